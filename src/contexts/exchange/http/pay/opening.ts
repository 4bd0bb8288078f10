import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Fault } from '../../../../kernel/fault.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { Refusal, type Problem } from '../../../../platform/http/problem.js';
import {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeKeyDirectory,
  type KnownExchangeKey,
} from '../../../access/contract.js';
import type { PayerSession } from '../../application/payer.js';
import { isSignedQuery, openSignedQuery } from '../../application/signed-url.js';
import { readAddress, readTag } from '../../domain/addresses.js';
import { readReturnUrl } from '../../domain/return-url.js';
import { isQuerySignedWith, isSignedWith, needsQuerySignature } from '../signature.js';
import { PaySessions } from './sessions.js';

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
  readonly payer: PayerSession;
  readonly parameters: Parameters;
  /** Where the page leads back to. */
  readonly returnUrl: string | null;
  /** A link that was signed for a time, which is over. */
  readonly hasExpired: boolean;
}

interface Link extends Pick<Opened, 'key' | 'parameters' | 'hasExpired'> {
  /** The one that signed it; null where none is demanded. */
  readonly secret: string | null;
}

/** Who may open a page, and for whom: headers, a signature in the query, or a `signed_url` (contract.md 26.1). */
@Injectable()
export class PayOpening {
  constructor(
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
    private readonly sessions: PaySessions,
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
    const secretHash = opened.secret === null ? null : this.sessions.hashOf(opened.secret);
    const { return_url: returnUrl } = opened.parameters;
    return {
      ...opened,
      payer: { ...payerOf(opened.key, opened.parameters), secretHash },
      returnUrl: valid('return_url', readReturnUrl(returnUrl || null, this.config.mode)),
    };
  }

  private async bySignedUrl(text: string, { api_key }: Parameters): Promise<Link> {
    const key = await this.keyOf(api_key);
    // At the beginning of time no link had expired: this one was right once.
    const open = (secret: string, now = new Date(0)) => openSignedQuery(text, [secret], now);
    const secret = signedBy(key, (each) => open(each) !== null);
    const parameters = secret === null ? null : open(secret);
    if (secret === null || parameters === null) throw new Refusal(UNAUTHORIZED);
    return { key, secret, parameters, hasExpired: open(secret, this.clock.now()) === null };
  }

  private async byKey({ headers }: FastifyRequest, parameters: Parameters): Promise<Link> {
    const named = [headers['x-api-key'], parameters['api_key']].filter((each) => each !== undefined);
    if (new Set(named).size > 1) throw new Refusal(UNAUTHORIZED);
    const key = await this.keyOf(named[0]);
    const {
      withdraw_address: address = '',
      withdraw_address_tag: tag,
      withdraw_address_memo: memo,
    } = parameters;
    const given = [headers['x-signature'], parameters['signature']].filter((each) => each !== undefined);
    const ofQuery = parameters['signature_v2'];
    const isSigned = given.length > 0 || ofQuery !== undefined;
    const secret = signedBy(
      key,
      (each) =>
        given.every((signature) => isSignedWith({ secrets: [each] }, String(signature), address)) &&
        (ofQuery === undefined || isQuerySignedWith({ secrets: [each] }, '/widget', parameters)),
    );
    if (isSigned ? secret === null : key.demandsSignature) throw new Refusal(UNAUTHORIZED);
    // The signature of the address does not cover them: where they are wrong the money goes to somebody else.
    const isOpen = needsQuerySignature(key, parameters) || (key.demandsSignature && Boolean(tag || memo));
    if (isOpen && ofQuery === undefined) throw new Refusal(UNAUTHORIZED);
    return { key, secret: isSigned ? secret : null, parameters, hasExpired: false };
  }

  private async keyOf(apiKey: unknown): Promise<KnownExchangeKey> {
    const key = typeof apiKey === 'string' ? await this.keys.find(apiKey) : null;
    if (key === null) throw new Refusal(UNAUTHORIZED);
    return key;
  }
}

/** The newest secret that signed; every one is tried, so that the time it takes does not tell which one it was. */
function signedBy({ secrets }: KnownExchangeKey, signs: (secret: string) => boolean): string | null {
  return secrets.filter(signs).at(-1) ?? null;
}

function payerOf({ keyId }: KnownExchangeKey, parameters: Parameters): Omit<PayerSession, 'secretHash'> {
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

function valid<T extends string | null>(name: string, value: T | Fault): T {
  if (value instanceof Fault) throw DomainError.invalid({ [name]: [value.message] });
  return value;
}
