import { createDecipheriv } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../../src/platform/postgres/database.js';
import { MasterKey } from '../../../src/platform/sealing/key-ring.js';
import { readCopies } from '../../../src/platform/sealing/key-ring-store.js';
import { associatedDataOfPersonalKey } from '../../../src/platform/sealing/personal-keys.js';
import { keyId, Sealer } from '../../../src/platform/sealing/sealer.js';

export interface Haystack {
  readonly where: string;
  readonly text: string;
}

/** Returns every table of the database as text, with bytes in hexadecimal. */
export async function dumpOf(database: Pick<Database, 'query'>): Promise<Haystack[]> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const dump: Haystack[] = [];
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`select t::text as row from ${name} as t`);
    dump.push({ where: name, text: rows.map(({ row }) => row).join('\n') });
  }
  return dump;
}

export const filesIn = (folder: string): Haystack[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((where) => ({ where, text: readFileSync(where, 'latin1') }));

/** Returns the value in clear, in hexadecimal, and in base64 at each of its offsets. */
function formsOf(value: string | Buffer): readonly string[] {
  const bytes = Buffer.from(value);
  const inBase64 = [0, 1, 2].flatMap((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
    // Omits characters that depend on the neighbours.
    const from = Math.ceil((shift * 8) / 6);
    const text = whole.toString('base64').slice(from, Math.floor((whole.length * 8) / 6));
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const clear = typeof value === 'string' ? value : value.toString('latin1');
  return [...new Set([clear, clear.toLowerCase(), clear.toUpperCase(), bytes.toString('hex'), ...inBase64])];
}

/** Returns `<table>: <name of the value>` for each place of a value, in any form. */
export function tracesOf(
  haystacks: readonly Haystack[],
  values: Readonly<Record<string, string | Buffer>>,
): string[] {
  const searched = Object.entries(values).map(([name, value]) => ({ name, forms: formsOf(value) }));
  return haystacks.flatMap(({ where, text }) =>
    searched
      .filter(({ forms }) => forms.some((form) => text.includes(form)))
      .map(({ name }) => `${where}: ${name}`),
  );
}

const SEALED = /s1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)/g;

/** Returns everything in the database that keys of the ring or of persons open, with any associated data. */
export async function openedOf(
  haystacks: readonly Haystack[],
  database: Pick<Database, 'query'>,
  masterKey: string,
): Promise<Haystack[]> {
  const keys = new Map((await keysOf(database, masterKey)).map((key) => [keyId(key), key]));
  return haystacks.map(({ where, text }) => ({
    where: `sealed in ${where}`,
    text: [...text.matchAll(SEALED), ...[...hexTexts(text)].flatMap((hex) => [...hex.matchAll(SEALED)])]
      .flatMap(([, id, packed]) => (keys.has(id!) ? [decrypted(keys.get(id!)!, packed!)] : []))
      .join('\n'),
  }));
}

function* hexTexts(text: string): Generator<string> {
  for (const [, hex] of text.matchAll(/\\x([0-9a-f]{20,})/g))
    yield Buffer.from(hex!, 'hex').toString('latin1');
}

async function keysOf(database: Pick<Database, 'query'>, masterKey: string): Promise<Buffer[]> {
  const master = new MasterKey(Buffer.from(masterKey, 'hex'));
  const ring = (await readCopies(database)).map((copy) => master.unwrap(copy));
  const sealer = new Sealer(ring[0]!, ring.slice(1));
  const persons = await database.query<{ subject: string; wrapped_key: string }>(
    'select subject, wrapped_key from platform.personal_keys where wrapped_key is not null',
  );
  return [
    ...ring,
    ...persons.map(({ subject, wrapped_key }) =>
      sealer.openBytes(wrapped_key, associatedDataOfPersonalKey(subject)),
    ),
  ];
}

/** Decrypts without authentication. GCM encrypts in counter mode, from 2 on. */
function decrypted(key: Buffer, packed: string): string {
  const bytes = Buffer.from(packed, 'base64url');
  const counter = Buffer.concat([bytes.subarray(0, 12), Buffer.from([0, 0, 0, 2])]);
  const decipher = createDecipheriv('aes-256-ctr', key, counter);
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('latin1');
}
