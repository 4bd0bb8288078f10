import { isMissingPartition } from '../partitions.js';
import { UnreadableBatch } from './prepared-batches.js';

/** SQLSTATE classes of what is wrong with the rows: data, constraints, limits of the server. */
const DATA_CLASSES = new Set(['22', '23', '54']);

/** Whether the data of a batch are at fault, so that trying again would not help. */
export function isDataError(error: unknown): boolean {
  if (error instanceof UnreadableBatch) return true;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && DATA_CLASSES.has(code.slice(0, 2)) && !isMissingPartition(error);
}
