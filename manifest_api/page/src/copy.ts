// A copy without a server (`orgkernel site`): the answers of the API are in files next to the page.

/** Whether this build is the copy. The build replaces it, so that each of the two has only its own code. */
declare global {
  const IS_COPY: boolean;
  var orgkernelCopy: Copy | undefined;
}

interface Copy {
  /** Answers by the path of their route. */
  readonly answers: Record<string, unknown>;
  /** For each other path, the number of the file in `data/` that has its answer. */
  readonly files: Readonly<Record<string, number>>;
}

const loads = new Map<number, Promise<void>>();
/** Admits the files of answers only, under the security policy of the copy. */
const policy = IS_COPY
  ? (globalThis as unknown as { trustedTypes?: { createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => { createScriptURL: (url: string) => string } } }).trustedTypes?.createPolicy("orgkernel-copy", {
      createScriptURL: (url) => {
        if (!/^data\/\d{1,6}\.js$/.test(url)) throw new TypeError("this is no file of the copy");
        return url;
      },
    })
  : undefined;

/** The answer to a question. Undefined if the copy has none. */
export async function readCopy(path: string): Promise<unknown> {
  const copy = globalThis.orgkernelCopy;
  if (!copy) return undefined;
  const file = Object.hasOwn(copy.files, path) ? copy.files[path] : undefined;
  if (!Object.hasOwn(copy.answers, path) && file !== undefined) await loadFile(file);
  return Object.hasOwn(copy.answers, path) ? copy.answers[path] : undefined;
}

/** A script, because a page that is opened from a disk may not read other files. */
function loadFile(number: number): Promise<void> {
  const loading = loads.get(number) ?? new Promise<void>((resolve, reject) => {
    const script = document.createElement("script");
    const url = `data/${number}.js`;
    script.src = policy ? policy.createScriptURL(url) : url;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(url));
    document.head.append(script);
  });
  loads.set(number, loading);
  return loading;
}
