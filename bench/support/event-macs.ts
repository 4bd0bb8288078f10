import { Database } from '../../src/platform/postgres/database.js';
import { KeyRing, MasterKey } from '../../src/platform/sealing/key-ring.js';
import { readCopies } from '../../src/platform/sealing/key-ring-store.js';
import { deriveKey, keyId } from '../../src/platform/sealing/sealer.js';

const BLOCK_BYTES = 64;

/** Events that `seed` inserts by SQL without a MAC get one, as withMac (event-mac.ts) makes it. Opens the key ring. */
export async function withEventMacs<T>(url: string, masterKey: Buffer, seed: () => Promise<T>): Promise<T> {
  const database = await Database.connect({ url, poolSize: 1 });
  try {
    const master = new MasterKey(masterKey);
    const ring = await KeyRing.open(database, { current: master, former: null });
    const copies = await readCopies(database);
    const key = copies
      .map((copy) => master.unwrap(copy))
      .find((each) => keyId(each) === ring.sealer.sealsWith)!;
    await database.query(triggerOf(keyId(key), deriveKey(key, 'mac')));
    try {
      return await seed();
    } finally {
      await database.query('drop function event_store.seeded_mac() cascade');
    }
  } finally {
    await database.close();
  }
}

/** HMAC-SHA256 by the functions that PostgreSQL has without extensions. */
function triggerOf(id: string, key: Buffer): string {
  const padded = Buffer.concat([key, Buffer.alloc(BLOCK_BYTES - key.length)]);
  const pad = (byte: number): string => Buffer.from(padded.map((each) => each ^ byte)).toString('hex');
  return `
    create function event_store.seeded_mac() returns trigger language plpgsql as $$
    declare
      message bytea := convert_to('event' || e'\\n["' || new.stream || '",' || new.revision || ',"' || new.id || '","'
        || new.type || '"]' || e'\\n' || new.data || e'\\n' || new.metadata, 'UTF8');
    begin
      new.metadata := case new.metadata when '{}' then '{' else left(new.metadata, -1) || ',' end || '"mac":"${id}.'
        || rtrim(translate(encode(sha256('\\x${pad(0x5c)}'::bytea || sha256('\\x${pad(0x36)}'::bytea || message)),
          'base64'), '+/', '-_'), '=') || '"}';
      return new;
    end $$;
    create trigger seeded_mac before insert on event_store.events for each row
      when (new.metadata not like '%"mac":%') execute function event_store.seeded_mac();`;
}
