import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const root = resolve('.');

type Import = readonly [importer: string, imported: string, of?: 'type'];

const PAYOUTS = 'src/contexts/payouts/payouts';
const USER = 'src/contexts/users/users/user';
const PORT = 'src/platform/event-store/port';

/** The smallest tree that breaks each rule, by its imports. A rule without one fails the last test. */
const planted: Readonly<Record<string, readonly Import[]>> = {
  'kernel-imports-nothing': [['src/kernel/bad', PORT]],
  'contexts-meet-at-contracts': [[`${PAYOUTS}/bad.service`, USER]],
  'domain-is-pure': [[`${PAYOUTS}/bad`, 'src/platform/database']],
  'contract-is-pure': [['src/contexts/payouts/payouts.contract', `${PAYOUTS}/table.store`]],
  'use-cases-know-no-edges': [[`${PAYOUTS}/bad.commands`, `${PAYOUTS}/rpc.adapter`]],
  'views-read-events-only': [[`${PAYOUTS}/bad.view`, `${PAYOUTS}/report.commands`]],
  'platform-knows-no-context': [['src/platform/bad', USER]],
  'files-have-a-kind': [[`${PAYOUTS}/bad.helper`, 'src/kernel/money']],
  'product-knows-no-sandbox': [['src/platform/bad', 'sandbox/chain']],
  'platform-arrows-point-down': [['src/platform/postgres/bad', PORT, 'type']],
  'platform-folders-have-a-place': [['src/platform/newcomer/new', 'src/platform/config/config']],
  'contexts-meet-one-way': [
    [`${PAYOUTS}/a.service`, 'src/contexts/users/users.contract', 'type'],
    ['src/contexts/users/users/deep/b.service', 'src/contexts/payouts/payouts.contract', 'type'],
  ],
  'use-cases-speak-no-sql': [[`${PAYOUTS}/bad.commands`, 'pg', 'type']],
  'store-knows-no-use-case': [[`${PAYOUTS}/bad.store`, `${PAYOUTS}/report.commands`]],
  'http-knows-the-edge': [[`${PAYOUTS}/bad.controller`, 'src/platform/event-store/command-loop']],
  'adapters-know-no-http': [[`${PAYOUTS}/bad.adapter`, `${PAYOUTS}/payouts.controller`]],
  'no-cycles': [
    [`${PAYOUTS}/a`, `${PAYOUTS}/b`],
    [`${PAYOUTS}/b`, `${PAYOUTS}/a`],
  ],
  'no-tests-in-production': [[`${PAYOUTS}/bad`, 'test/support/helper']],
  'no-dev-packages-in-production': [['src/platform/bad', 'fast-check']],
};

/** Writes the importers and the imported files that belong to no package. */
function plant(folder: string, imports: readonly Import[]): void {
  const write = (module: string, text: string): void => {
    const path = join(folder, `${module}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const [, imported] of imports)
    if (imported.includes('/')) write(imported, 'const it = 1;\nexport default it;\nexport type It = 1;');
  for (const [importer, imported, of] of imports) {
    const from = imported.includes('/') ? `./${relative(dirname(importer), imported)}.js` : imported;
    write(
      importer,
      of === 'type'
        ? `import type { It } from '${from}';\nexport type X = It;`
        : `import it from '${from}';\nconst x = (): unknown => it;\nexport default x;`,
    );
  }
}

const FOLDERS = '.dependency-cruiser.folders.mjs';
const OF_FOLDERS = ['contexts-meet-one-way'];
const CONFIGS = ['.dependency-cruiser.mjs', FOLDERS];

async function brokenRules(folder: string, config: string): Promise<string[]> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    const { options, ...ruleSet } = await extractDepcruiseConfig(join(folder, config));
    const { output } = await cruise(
      ['src', 'sandbox'].filter((name) => existsSync(name)),
      { ...options, ruleSet, validate: true },
      undefined,
      { tsConfig: extractTSConfig('tsconfig.json') },
    );
    return (output as ICruiseResult).summary.violations.map(({ rule }) => rule.name);
  } finally {
    process.chdir(before);
  }
}

describe('the dependency rules', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'disburse-rules-'));
    for (const file of [...CONFIGS, 'tsconfig.json', 'package.json']) {
      writeFileSync(join(folder, file), readFileSync(join(root, file)));
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.entries(planted))('catch a violation of %s', async (rule, imports) => {
    for (const name of ['src', 'sandbox', 'test'])
      rmSync(join(folder, name), { recursive: true, force: true });
    plant(folder, imports);
    expect(await brokenRules(folder, OF_FOLDERS.includes(rule) ? FOLDERS : CONFIGS[0]!)).toContain(rule);
  });

  it('are each tested with a violation', async () => {
    const rules = new Set<string>();
    for (const file of CONFIGS) {
      const config = (await import(join(root, file))) as { default: { forbidden: { name: string }[] } };
      for (const { name } of config.default.forbidden) rules.add(name);
    }
    expect(Object.keys(planted).sort()).toEqual([...rules].sort());
  });
});
