import { isDatabaseUnavailable } from './unavailable.js';

/** A boot that cannot go on: the message is a sentence for the operator. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** No such database, no such user, a wrong password: PostgreSQL; a wrong or missing password: Redis. */
const REFUSED = /^(3D000|28P01|28000)$|^(WRONGPASS|NOAUTH)/;

/** Runs `connect`; when what the setting names is unavailable or refuses everybody, rejects with {@link Unreachable} that says so. */
export async function reaching<T>(what: string, setting: string, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!isDatabaseUnavailable(error) && !REFUSED.test(code ?? message)) throw error;
    // Of an address of two families the message is empty.
    throw new Unreachable(`The ${what} of ${setting} cannot be reached: ${message || code}.`);
  }
}
