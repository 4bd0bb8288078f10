import { readFileSync } from 'node:fs';
import { TestProcess } from './test-process.js';

/** Joins the blocks of bash in `docs/<name>`. */
export const commandsOf = (name: string): string =>
  commandsIn(readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8'));

/** Joins the blocks of bash in a Markdown text. */
export const commandsIn = (guide: string): string =>
  [...guide.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n');

/** Runs a script like in a new shell. */
export async function bash(script: string, cwd: string) {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const args = ['--norc', '-euo', 'pipefail', '-c', script];
  const shell = new TestProcess('bash', args, { cwd, env, timeout: 110_000 });
  const code = await shell.ended;
  return { output: shell.output, errors: shell.errors, code };
}

/** Returns every statement of the blocks of SQL in `docs/<name>`. */
export function statementsOf(name: string): string[] {
  const guide = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  return blocks.flatMap((block) => block.split(';').filter((statement) => statement.trim() !== ''));
}
