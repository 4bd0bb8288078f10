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
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const root = resolve('.');

/** The smallest tree that breaks each rule. A rule without one fails the last test. */
const planted: Record<string, Record<string, string>> = {
  'kernel-imports-nothing': {
    'src/kernel/bad.ts': "import { port } from '../platform/event-store/port.js';\nexport const x = port;",
    'src/platform/event-store/port.ts': 'export const port = 1;',
  },
  'contexts-meet-at-contracts': {
    'src/contexts/payouts/payouts/bad.service.ts':
      "import { user } from '../../users/users/user.js';\nexport const x = user;",
    'src/contexts/users/users/user.ts': 'export const user = 1;',
  },
  'domain-is-pure': {
    'src/contexts/payouts/payouts/bad.ts':
      "import { db } from '../../../platform/database.js';\nexport const x = db;",
    'src/platform/database.ts': 'export const db = 1;',
  },
  'contract-is-pure': {
    'src/contexts/payouts/payouts.contract.ts':
      "import { table } from './payouts/table.store.js';\nexport const x = table;",
    'src/contexts/payouts/payouts/table.store.ts': 'export const table = 1;',
  },
  'use-cases-know-no-edges': {
    'src/contexts/payouts/payouts/bad.commands.ts':
      "import { rpc } from './rpc.adapter.js';\nexport const x = rpc;",
    'src/contexts/payouts/payouts/rpc.adapter.ts': 'export const rpc = 1;',
  },
  'views-read-events-only': {
    'src/contexts/payouts/payouts/bad.view.ts':
      "import { report } from './report.commands.js';\nexport const x = report;",
    'src/contexts/payouts/payouts/report.commands.ts': 'export const report = 1;',
  },
  'platform-knows-no-context': {
    'src/platform/bad.ts': "import { user } from '../contexts/users/users/user.js';\nexport const x = user;",
    'src/contexts/users/users/user.ts': 'export const user = 1;',
  },
  'files-have-a-kind': {
    'src/contexts/payouts/payouts/bad.helper.ts':
      "import { money } from '../../../kernel/money.js';\nexport const x = money;",
    'src/kernel/money.ts': 'export const money = 1;',
  },
  'product-knows-no-sandbox': {
    'src/platform/bad.ts': "import { chain } from '../../sandbox/chain.js';\nexport const x = chain;",
    'sandbox/chain.ts': 'export const chain = 1;',
  },
  'platform-arrows-point-down': {
    'src/platform/postgres/bad.ts':
      "import type { Store } from '../event-store/port.js';\nexport const x: Store = 1;",
    'src/platform/event-store/port.ts': 'export type Store = 1;',
  },
  'platform-folders-have-a-place': {
    'src/platform/newcomer/new.ts': "import { config } from '../config/config.js';\nexport const x = config;",
    'src/platform/config/config.ts': 'export const config = 1;',
  },
  'contexts-meet-one-way': {
    'src/contexts/payouts/payouts/a.service.ts':
      "import type { User } from '../../users/users.contract.js';\nexport const x: User = 1;",
    'src/contexts/payouts/payouts.contract.ts': 'export type Payout = 1;',
    'src/contexts/users/users/deep/b.service.ts':
      "import type { Payout } from '../../../payouts/payouts.contract.js';\nexport const x: Payout = 1;",
    'src/contexts/users/users.contract.ts': 'export type User = 1;',
  },
  'use-cases-speak-no-sql': {
    'src/contexts/payouts/payouts/bad.commands.ts': "import type { Pool } from 'pg';\nexport type X = Pool;",
  },
  'store-knows-no-use-case': {
    'src/contexts/payouts/payouts/bad.store.ts':
      "import { report } from './report.commands.js';\nexport const x = report;",
    'src/contexts/payouts/payouts/report.commands.ts': 'export const report = 1;',
  },
  'http-knows-the-edge': {
    'src/contexts/payouts/payouts/bad.controller.ts':
      "import { loop } from '../../../platform/event-store/command-loop.js';\nexport const x = loop;",
    'src/platform/event-store/command-loop.ts': 'export const loop = 1;',
  },
  'adapters-know-no-http': {
    'src/contexts/payouts/payouts/bad.adapter.ts':
      "import { controller } from './payouts.controller.js';\nexport const x = controller;",
    'src/contexts/payouts/payouts/payouts.controller.ts': 'export const controller = 1;',
  },
  'no-cycles': {
    'src/contexts/payouts/payouts/a.ts': "import { b } from './b.js';\nexport const a = () => b;",
    'src/contexts/payouts/payouts/b.ts': "import { a } from './a.js';\nexport const b = () => a;",
  },
  'no-tests-in-production': {
    'src/contexts/payouts/payouts/bad.ts':
      "import { helper } from '../../../../test/support/helper.js';\nexport const x = helper;",
    'test/support/helper.ts': 'export const helper = 1;',
  },
  'no-dev-packages-in-production': {
    'src/platform/bad.ts': "import fc from 'fast-check';\nexport const x = fc;",
  },
};

const FOLDERS = '.dependency-cruiser.folders.mjs';
const OF_FOLDERS = ['contexts-meet-one-way'];
const CONFIGS = ['.dependency-cruiser.mjs', FOLDERS];

/** Names of the rules that the tree in this folder breaks. */
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

  it.each(Object.entries(planted))('catch a violation of %s', async (rule, files) => {
    for (const name of ['src', 'sandbox', 'test'])
      rmSync(join(folder, name), { recursive: true, force: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    expect(await brokenRules(folder, OF_FOLDERS.includes(rule) ? FOLDERS : CONFIGS[0]!)).toContain(rule);
  });

  it('each have a planted violation', async () => {
    const rules = new Set<string>();
    for (const file of CONFIGS) {
      const config = (await import(join(root, file))) as { default: { forbidden: { name: string }[] } };
      for (const { name } of config.default.forbidden) rules.add(name);
    }
    expect(Object.keys(planted).sort()).toEqual([...rules].sort());
  });
});
