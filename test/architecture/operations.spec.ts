import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { DynamicModule, Type } from '@nestjs/common';
import type { Command } from 'commander';
import { ALL_CONTEXTS, readConfig } from '../../src/composition.js';
import { ROLE_SCOPES, ROLES, SCOPES } from '../../src/contexts/access/operators/roles.js';
import { OPERATIONS } from '../../src/platform/operations/operation.js';
import { loadProgram, programNames } from '../../src/cli.js';
import { operationsOf, readDocument } from '../support/docs/reference.js';
import { isProgram, sources, type Source } from './ratchet/sources.js';

/** Commands without changes. All others request operations, with `--reason`. */
const READING = [
  'audit balance',
  'audit explain',
  'audit export',
  'audit heads',
  'audit key',
  'audit proof',
  'audit recheck',
  'audit verify',
  // It copies the same log to another store.
  'events copy',
  'exchange recheck',
  'keys status',
  // Every boot migrates too.
  'migrate',
  'operator passkeys',
];

/** Returns commands with an action, by their full names. */
function commandsOf(command: Command, name: string): readonly [name: string, command: Command][] {
  const own = Reflect.get(command, '_actionHandler') === null ? [] : [[name, command] as [string, Command]];
  return [...own, ...command.commands.flatMap((each) => commandsOf(each, `${name} ${each.name()}`))];
}

function withoutReason(commands: readonly (readonly [string, Command])[]): readonly string[] {
  return commands
    .filter(([, { options }]) => !options.some(({ long }) => long === '--reason'))
    .map(([name]) => name)
    .filter((name) => !READING.includes(name));
}

it('every program command that changes something requires a reason', async () => {
  const io = { env: {}, print: () => undefined, exit: () => undefined };
  const programs = await Promise.all(
    programNames().map(async (name) => commandsOf(await loadProgram(name, io), name)),
  );
  const commands = programs.flat();
  expect(commands.length).toBeGreaterThan(15);
  expect(withoutReason(commands)).toEqual([]);
  const [, planted] = commands.find(([name]) => name === 'keys status')!;
  expect(withoutReason([['keys drop', planted]])).toEqual(['keys drop']);
  const known = commands.map(([name]) => name);
  expect(READING.filter((name) => !known.includes(name))).toEqual([]);
});

it('package.json has exactly one script for the admin program and for each other program', () => {
  const file = new URL('../../package.json', import.meta.url);
  const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: Readonly<Record<string, string>> };
  const programs = Object.entries(scripts).flatMap(([name, command]) => {
    const [, program] = /scripts\/cli\.mjs (\S+)$/.exec(command) ?? [];
    return program === undefined ? [] : [[name, program]];
  });
  const known = ['admin', ...programNames()];
  expect(programs.sort()).toEqual(known.map((name) => [name, name]).sort());
});

/** Returns the command handlers of all contexts. */
function handlers(): readonly Type[] {
  const known = new Set<Type>();
  const queue: unknown[] = ALL_CONTEXTS.map(({ module }) => module?.(readConfig({})));
  for (const each of queue) {
    if (typeof each === 'object' && each !== null) queue.push(...Object.values(each as DynamicModule).flat());
    if (typeof each !== 'function') continue;
    const listed = ['imports', 'providers'].map((key) => Reflect.getMetadata(key, each) as unknown[]);
    queue.push(...listed.flatMap((list) => list ?? []));
    if (Reflect.hasMetadata('__commandHandler__', each)) known.add(each as Type);
  }
  return [...known];
}

it('only roles with every scope may decide on operations that grant scopes', () => {
  const giving = handlers()
    .filter(({ prototype }) => 'grants' in prototype)
    .map((handler) => OPERATIONS.get(Reflect.getMetadata('__commandHandler__', handler) as never)!);
  expect(giving.length).toBeGreaterThan(3);
  const partial = giving.flatMap(({ name, scope }) =>
    ROLES.filter((role) => {
      const scopes: readonly string[] = ROLE_SCOPES[role];
      return scopes.includes(scope) && scopes.length < SCOPES.length;
    }).map((role) => `${name} by ${role}`),
  );
  // The console's session lists the operations that a person may decide by their own scope alone.
  expect(partial).toEqual([]);
});

/** Direct writes in place of requested operations. */
const WRITES =
  /\bCommandBus\b|\bcommandBus\b|\.execute\(|\.commit\(|\b(?:insert into|delete from|update \w+\.\w+ set)\b/;

const isOfOperators = ({ path, text }: Source): boolean =>
  /\.program\.ts$|^src\/platform\/cli\//.test(path) || text.includes('AdminController(');

function writing(files: readonly Source[]): readonly string[] {
  return files
    .filter((file) => isProgram(file.path) && isOfOperators(file))
    .filter(({ text }) => WRITES.test(text))
    .map(({ path }) => path);
}

it('programs and controllers of the admin API change data only through operations', () => {
  expect(writing(sources())).toEqual([]);
  const planted = [
    { path: 'src/contexts/users/users/drop.program.ts', text: 'await bus.execute(new DropUser(id));' },
    {
      path: 'src/contexts/users/users/drop.controller.ts',
      text: "@AdminController('drop')\nclass A { bus: CommandBus }",
    },
    { path: 'src/platform/cli/drop.ts', text: "query('delete from users.users')" },
  ];
  expect(writing([...sources(), ...planted])).toEqual(planted.map(({ path }) => path));
});

it('every change through the admin API requires a reason in the request body', () => {
  const document = readDocument();
  const schemas: Readonly<Record<string, { readonly required?: readonly string[] }>> =
    document.components.schemas;
  const writes = operationsOf(document).filter(
    ({ method, path }) => method !== 'GET' && path.startsWith('/admin/v1/'),
  );
  expect(writes.length).toBeGreaterThan(15);
  const withoutReason = writes.filter(({ requestBody }) => {
    const name = requestBody?.content?.['application/json']?.schema.$ref?.split('/').at(-1);
    return schemas[name ?? '']?.required?.includes('reason') !== true;
  });
  expect(withoutReason.map(({ id }) => id)).toEqual([]);
});
