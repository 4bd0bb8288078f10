import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Fault } from '../../../../kernel/fault.js';
import { processConfig, type ProcessConfig } from '../../../../platform/config/config.js';
import { Refusal, type HttpProblem } from '../../../../platform/http/problem.js';
import {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeKeyDirectory,
  type KnownExchangeKey,
} from '../../../access/contract.js';
import type { Payer, PayerSession } from '../../application/payer-orders.js';
import { isSignedQuery, openSignedQuery } from '../../application/signed-links.js';
import { readAddress, readTag, readReturnUrl } from '../../domain/addresses.js';
import { mayPayOutTo, OTHER_WITHDRAW_ADDRESS, signerOf } from '../signature.js';
import { PaySessions } from './payer-guard.js';

/** One for all: it does not say which of them it was (contract.md 26.1). */
const UNAUTHORIZED: HttpProblem = {
  status: 401,
  title: 'Invalid link',
  detail: 'The key or the signature of this link is missing or not valid',
};

/** The parameters of the configuration (contract.md 25.3) that a page uses. */
type Parameters = Readonly<Record<string, string | undefined>>;

/** Who opened a page, and for whom. */
export interface PayLink {
  readonly key: KnownExchangeKey;
  readonly payer: PayerSession;
  readonly parameters: Parameters;
  /** Where the page leads back to. */
  readonly returnUrl: string | null;
}

/** Verifies the link of a page: headers, a signature in the query, or a `signed_url` (contract.md 26.1). */
@Injectable()
export class PayLinks {
  constructor(
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
    private readonly sessions: PaySessions,
  ) {}

  /** Throws {@link Refusal} (401), `bad_request`, and `validation_failed` for an address that is none. */
  async open({ query, raw, headers }: FastifyRequest): Promise<PayLink> {
    const given = Object.entries(query as Readonly<Record<string, string | readonly string[]>>);
    const repeated = given.find(([, value]) => Array.isArray(value));
    if (repeated !== undefined) throw new DomainError('bad_request', `${repeated[0]} must be given once`);
    const named = query as Parameters;
    const text = (raw.url ?? '').split('?').slice(1).join('?');
    const isSignedUrl = isSignedQuery(text);
    const ids = [...(isSignedUrl ? [] : [headers['x-api-key']]), named['api_key']].filter(
      (id) => id !== undefined,
    );
    const key = new Set(ids).size === 1 ? await this.keys.find(String(ids[0])) : null;
    if (key === null) throw new Refusal(UNAUTHORIZED);
    const signer = isSignedUrl ? undefined : signerOf(key, '/widget', named, headers['x-signature']);
    const link = isSignedUrl
      ? openSignedQuery(text, key.secrets, this.clock.now())
      : signer !== undefined && { parameters: named, secret: signer, hasExpired: false };
    if (!link) throw new Refusal(UNAUTHORIZED);
    const { parameters, hasExpired, secret } = link;
    if (!mayPayOutTo(key, parameters['withdraw_address'])) throw new Refusal(OTHER_WITHDRAW_ADDRESS);
    const secretHash = secret === null ? null : this.sessions.hashOf(secret);
    const returnUrl = readReturnUrl(parameters['return_url'] || null, this.config.mode);
    return {
      key,
      parameters,
      payer: { ...payerOf(key, parameters), secret_hash: secretHash, has_expired: hasExpired },
      returnUrl: valid('return_url', returnUrl),
    };
  }
}

function payerOf({ keyId }: KnownExchangeKey, parameters: Parameters): Payer {
  const read = (name: string, given = parameters[name]): string | null =>
    given === undefined || given === '' ? null : valid(name, readTag(given));
  const address = parameters['withdraw_address'] ?? '';
  return {
    key_id: keyId,
    withdraw_address: valid('withdraw_address', readAddress('solana', address)),
    withdraw_address_tag: read('withdraw_address_tag'),
    withdraw_address_memo: read('withdraw_address_memo'),
    user_id: read('user_id', parameters['user_id']?.trim()),
  };
}

function valid<T extends string | null>(name: string, value: T | Fault): T {
  if (value instanceof Fault) throw DomainError.invalid({ [name]: [value.message] });
  return value;
}
