import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Fault } from '../../../../kernel/fault.js';
import { Refusal, type Problem } from '../../../../platform/http/problem.js';
import {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeKeyDirectory,
  type KnownExchangeKey,
} from '../../application/keys/exchange-caller.js';
import type { Payer } from '../../application/payer.js';
import { isSignedQuery, openSignedQuery } from '../../application/signed-url.js';
import { readAddress, readTag } from '../../domain/addresses.js';
import { isSignedWith } from '../signature.js';

/** One for all: it does not tell which of them it was (contract.md 26.1). */
const UNAUTHORIZED: Problem = {
  status: 401,
  title: 'Invalid link',
  detail: 'The key or the signature of this link is missing or not valid',
};

/** The parameters of the configuration (contract.md 25.3) that a page goes by. */
type Parameters = Readonly<Record<string, string | undefined>>;

export interface Opened {
  readonly key: KnownExchangeKey;
  readonly payer: Payer;
  readonly parameters: Parameters;
  /** A link that was signed for a time, which is over. */
  readonly hasExpired: boolean;
}

/** Who may open a page, and for whom: headers, a signature in the query, or a `signed_url` (contract.md 26.1). */
@Injectable()
export class PayOpening {
  constructor(
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Throws {@link Refusal} (400, 401), and `validation_failed` for an address that is none. */
  async open(request: FastifyRequest): Promise<Opened> {
    const query = request.query as Readonly<Record<string, string | readonly string[]>>;
    const repeated = Object.keys(query).find((name) => Array.isArray(query[name]));
    if (repeated !== undefined) throw new DomainError('bad_request', `${repeated} must be given once`);
    const text = (request.raw.url ?? '').split('?').slice(1).join('?');
    const parameters = query as Parameters;
    const opened = isSignedQuery(text)
      ? await this.bySignedUrl(text, parameters)
      : await this.byKey(request, parameters);
    return { ...opened, payer: payerOf(opened.key, opened.parameters) };
  }

  private async bySignedUrl(text: string, { api_key }: Parameters): Promise<Omit<Opened, 'payer'>> {
    const key = await this.keyOf(api_key);
    const valid = openSignedQuery(text, key.secrets, this.clock.now());
    // At the beginning of time no link had expired: this one was right once.
    const parameters = valid ?? openSignedQuery(text, key.secrets, new Date(0));
    if (parameters === null) throw new Refusal(UNAUTHORIZED);
    return { key, parameters, hasExpired: valid === null };
  }

  private async byKey({ headers }: FastifyRequest, parameters: Parameters): Promise<Omit<Opened, 'payer'>> {
    const named = [headers['x-api-key'], parameters['api_key']].filter((each) => each !== undefined);
    if (new Set(named).size > 1) throw new Refusal(UNAUTHORIZED);
    const key = await this.keyOf(named[0]);
    const {
      withdraw_address: address = '',
      withdraw_address_tag: tag,
      withdraw_address_memo: memo,
    } = parameters;
    const given = [headers['x-signature'], parameters['signature']].filter((each) => each !== undefined);
    const isSigned = given.length > 0 && given.every((each) => isSignedWith(key, String(each), address));
    if (!isSigned && (key.demandsSignature || given.length > 0)) throw new Refusal(UNAUTHORIZED);
    // This signature does not cover them, and where they are wrong the money goes to somebody else.
    if (key.demandsSignature && (tag || memo)) throw new Refusal(UNAUTHORIZED);
    return { key, parameters, hasExpired: false };
  }

  private async keyOf(apiKey: unknown): Promise<KnownExchangeKey> {
    const key = typeof apiKey === 'string' ? await this.keys.find(apiKey) : null;
    if (key === null) throw new Refusal(UNAUTHORIZED);
    return key;
  }
}

function payerOf({ keyId }: KnownExchangeKey, parameters: Parameters): Payer {
  const read = (name: string): string | null => {
    const given = parameters[name];
    return given === undefined || given === '' ? null : valid(name, readTag(given));
  };
  const address = parameters['withdraw_address'] ?? '';
  return {
    keyId,
    withdrawAddress: valid('withdraw_address', readAddress('solana', address)),
    withdrawAddressTag: read('withdraw_address_tag'),
    withdrawAddressMemo: read('withdraw_address_memo'),
    userId: read('user_id'),
  };
}

function valid(name: string, value: string | Fault): string {
  if (value instanceof Fault) throw DomainError.invalid({ [name]: [value.message] });
  return value;
}
