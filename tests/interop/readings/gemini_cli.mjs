// Reads agents' files with the reader of Gemini CLI: one JSON string a line in, one answer a line out.
import readline from "node:readline";
import {pathToFileURL} from "node:url";

const core = pathToFileURL(process.argv[2] + "/@google/gemini-cli-core/dist/src/").href;
const {parseAgentMarkdown, markdownToAgentDefinition} = await import(core + "agents/agentLoader.js");
const {getToolAliases} = await import(core + "tools/tool-names.js");

for await (const line of readline.createInterface({input: process.stdin})) {
  let answer;
  try {
    const parsed = await parseAgentMarkdown("a.md", JSON.parse(line));
    answer = parsed.map((each) => markdownToAgentDefinition(each, {})).map((each) => ({
      name: each.name,
      tools: each.toolConfig?.tools.flatMap((tool) => getToolAliases(tool)) ?? (each.kind === "local" ? ["*"] : []),
      model: each.modelConfig?.model ?? "inherit",
    }));
  } catch (error) {
    answer = {error: String(error)};
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
