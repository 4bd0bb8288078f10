import { DomainError } from '../../../kernel/domain-error.js';
import { requireObject } from '../../../platform/http/validation.js';
import { depthOf, memberText } from '../../../platform/json-text/json-text.js';
import { METADATA_MAX_BYTES, METADATA_MAX_DEPTH } from '../domain/custom-metadata.js';
import { readPayoutAmount } from '../domain/payout-amount.js';

/** What a valid body of POST /merchants/v1/payouts/report says (contract.md 9.2 to 9.6). */
export interface ReportBody {
  readonly userId: string;
  readonly amount: string;
  readonly transactionHash: string;
  /** Exact JSON text; `{}` when there was none. */
  readonly customMetadata: string;
}

const HASH_MAX_LENGTH = 255;
// Text that PostgreSQL or UTF-8 cannot hold, and nothing that a hash could be made of.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * Checks a parsed body by hand: this is the hot route, and class-validator costs more than the rest of it.
 * `raw` is the text that `body` was parsed from. Throws DomainError `validation_failed` naming every field at fault.
 */
export function readReportBody(body: unknown, raw: string): ReportBody {
  const errors: Record<string, string[]> = {};
  const root = requireObject(body);
  const userId = root['user_id'];
  if (typeof userId !== 'string') errors['user_id'] = [needed(userId, 'must be a string')];

  const payout = root['payout'];
  if (!isObject(payout))
    throw DomainError.invalid({ ...errors, payout: [needed(payout, 'must be an object')] });

  const amount = readPayoutAmount(payout['amount']);
  if ('wrong' in amount) errors['amount'] = [amount.wrong];

  const transactionHash = payout['transaction_hash'];
  const wrongHash = checkHash(transactionHash);
  if (wrongHash !== null) errors['transaction_hash'] = [wrongHash];

  const currency = payout['currency_code'];
  if (currency !== undefined && currency !== null && currency !== 'USDC')
    errors['currency_code'] = ['must be USDC'];

  const metadata = readMetadata(payout['custom_metadata'], raw);
  if ('wrong' in metadata) errors['custom_metadata'] = [metadata.wrong];

  if (
    typeof userId === 'string' &&
    'amount' in amount &&
    'text' in metadata &&
    Object.keys(errors).length === 0
  ) {
    return {
      userId,
      amount: amount.amount,
      transactionHash: transactionHash as string,
      customMetadata: metadata.text,
    };
  }
  throw DomainError.invalid(errors);
}

function checkHash(value: unknown): string | null {
  if (typeof value !== 'string') return needed(value, 'must be a string');
  if (value.trim() === '') return 'must not be blank';
  if (value.length > HASH_MAX_LENGTH) return `must be at most ${HASH_MAX_LENGTH} characters`;
  return UNPRINTABLE.test(value) ? 'must hold no control characters' : null;
}

function readMetadata(value: unknown, raw: string): { readonly text: string } | { readonly wrong: string } {
  if (value === undefined || value === null) return { text: '{}' };
  if (!isObject(value)) return { wrong: 'must be an object' };
  const text = memberText(raw, ['payout', 'custom_metadata']) ?? '{}';
  if (Buffer.byteLength(text) > METADATA_MAX_BYTES)
    return { wrong: `must be at most ${METADATA_MAX_BYTES} bytes` };
  if (depthOf(text) > METADATA_MAX_DEPTH)
    return { wrong: `must nest at most ${METADATA_MAX_DEPTH} levels deep` };
  return { text };
}

function needed(value: unknown, otherwise: string): string {
  return value === undefined || value === null ? 'is required' : otherwise;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
