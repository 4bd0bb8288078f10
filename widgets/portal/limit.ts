import { rowsAt, textAt, type Row } from '../kit/fields.js';

/** The share of the limit from which a person is warned. */
const CLOSE = 0.8;

/** Returns this minute's usage of the limit. */
export function limitIn(usage: Row | undefined): { used: string; limit: string; isClose: boolean } {
  const [used, limit] = [textAt(usage, 'used') || '0', textAt(usage, 'limit')];
  return { used, limit, isClose: limit !== '' && Number(used) >= Number(limit) * CLOSE };
}

/** Returns the usage of the current day in UTC. */
export function usageToday(usage: Row | undefined): Row | undefined {
  const today = new Date().toISOString().slice(0, 10);
  return rowsAt(usage, 'days').find((row) => textAt(row, 'day').startsWith(today));
}
