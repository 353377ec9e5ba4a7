// Prints the commands that specifications of command lines mark as dangerous, as JSON: `node list_command_marks.mjs FOLDER`.
import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const commands = new Set();
const names = (name) => (Array.isArray(name) ? name : [name]);

function walk(spec, words, depth) {
  if (depth > 6) return;
  if (spec.isDangerous) commands.add(words.join(" "));
  for (const option of spec.options ?? []) {
    const value = option.args && !option.args.isOptional ? ["x"] : [];
    if (option.isDangerous) for (const name of names(option.name)) commands.add([...words, name, ...value].join(" "));
  }
  for (const below of spec.subcommands ?? []) {
    if (below && below.name) walk(below, [...words, names(below.name)[0]], depth + 1);
  }
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".js")).sort()) {
  try {
    const { default: spec } = await import(pathToFileURL(`${folder}/${file}`).href);
    if (spec && spec.name) walk(spec, [names(spec.name)[0]], 0);
  } catch {
    // A specification that asks the machine while it is read is not compared.
  }
}
console.log(JSON.stringify([...commands]));
