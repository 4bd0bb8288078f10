import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Every block of bash in `docs/<name>`, one after the other. */
export const commandsOf = (name: string): string =>
  commandsIn(readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8'));

/** Every block of bash in a Markdown text, one after the other. */
export const commandsIn = (guide: string): string =>
  [...guide.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n');

/** Runs a script as in a new shell. */
export function bash(
  script: string,
  cwd: string,
): Promise<{ said: string; errors: string; code: number | null }> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 110_000,
  });
  let [said, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ said, errors, code })));
}

/** Every statement of the blocks of SQL in `docs/<name>`. */
export function statementsOf(name: string): string[] {
  const guide = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  return blocks.flatMap((block) => block.split(';').filter((statement) => statement.trim() !== ''));
}
