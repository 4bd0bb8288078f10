import { Database } from '../../src/platform/postgres/database.js';
import { KeyRing, MasterKey } from '../../src/platform/sealing/key-ring.js';
import type { Sealer } from '../../src/platform/sealing/sealer.js';

/** Opens the sealer and the MACs of processes with this master key. Creates the ring of a new database. */
export async function ringOf(url: string, masterKey: Buffer): Promise<Sealer> {
  const database = await Database.connect({ url, poolSize: 1 });
  try {
    return (await KeyRing.open(database, { current: new MasterKey(masterKey), former: null })).sealer;
  } finally {
    await database.close();
  }
}
