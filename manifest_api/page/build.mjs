// Build the page: `node build.mjs PACKAGES TARGET`. PACKAGES is the folder node_modules with the pinned packages.
// The same sources and packages always give the same bytes, so that a check can compare what is checked in.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [packages, target] = process.argv.slice(2);
const sources = join(dirname(fileURLToPath(import.meta.url)), "src");
const esbuild = createRequire(join(packages, "any.js"))("esbuild");

mkdirSync(target, { recursive: true });
const settings = {
  absWorkingDir: sources,
  outdir: target,
  bundle: true,
  minify: true,
  target: ["chrome111", "firefox113", "safari16.4"],
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  nodePaths: [packages],
  tsconfigRaw: {},
};
const result = await esbuild.build({
  ...settings,
  entryPoints: [join(sources, "page.tsx"), join(sources, "page.css"), join(sources, "signed-in.ts")],
  define: { IS_COPY: "false" },
  format: "esm",
  // Each view is a part of its own, which is loaded when its address is opened.
  splitting: true,
  chunkNames: "part-[name]-[hash]",
});
// The copy without a server is one classic script: a page that is opened from a disk may not load modules.
await esbuild.build({ ...settings, entryPoints: { copy: join(sources, "page.tsx") }, define: { IS_COPY: "true" }, format: "iife" });
for (const name of ["index.html", "signed-in.html", "copy.html", "icon.svg"]) copyFileSync(join(sources, name), join(target, name));

// The licenses of the packages inside the built script, which have to go with every copy of it.
const bundled = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) bundled.add(found[1]);
}
const texts = [...bundled].sort().map((name) => {
  const { version } = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(packages, name, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(target, "licenses.txt"), texts.join(`\n${"-".repeat(72)}\n\n`));
