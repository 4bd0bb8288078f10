import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { CONFIG_PARTS } from '../../src/composition.js';
import type { Setting, Settings } from '../../src/platform/config/settings.js';

const FILE = 'docs/configuration.md';

const INTRODUCTION = `# Configuration

Every setting is an environment variable with a default. An invalid value stops the boot with a message that names the
variable. [commands.md](commands.md#the-settings-that-you-need-first) has those that you need first. A test writes this page from the
settings themselves: \`src/platform/config/config.ts\` and the \`<name>.config.ts\` of each context.
`;

function table(title: string, settings: Settings): string {
  const rows = Object.values(settings).map(
    (setting) => `| \`${setting.name}\` | ${defaultOf(setting)} | ${cell(setting.help)} |`,
  );
  return [
    `\n## ${title[0]?.toUpperCase()}${title.slice(1)}\n`,
    '| Variable | Default | |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function defaultOf({ fallback, secret }: Setting<unknown>): string {
  if (fallback === null || fallback === '') return '';
  return secret ? 'secret' : `\`${cell(String(fallback))}\``;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

it('docs/configuration.md lists every setting with its default and its help text', () => {
  const tables = CONFIG_PARTS.map(({ namespace, settings }) => table(namespace, settings));
  const page = [INTRODUCTION, ...tables].join('');
  const committed = readFileSync(FILE, 'utf8');
  writeFileSync(FILE, page);
  expect(committed).toBe(page);
});
