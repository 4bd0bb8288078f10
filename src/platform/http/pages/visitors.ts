import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../kernel/clock.js';
import { httpConfig, type HttpConfig } from '../../config/config.js';
import type { KeyedHash } from '../../sealing/keyed-hash.js';
import { addressLimit, toClient, LocalRateLimiter, refuseUntil } from '../rate-limit.guard.js';

const MAX_CHARACTERS = 8192;

/** The stateless sessions of a page: `<visitor as base64url JSON>.<expiry in epoch ms>.<keyed hash>`. */
export abstract class PageSessions<Visitor> {
  constructor(
    /** The kind of session. The hash covers the kind, so that a token of another kind is invalid. */
    private readonly kind: string,
    private readonly validMs: number,
    private readonly clock: Clock,
    protected readonly keyedHash: KeyedHash,
  ) {}

  open(visitor: Visitor): string {
    const encoded = Buffer.from(JSON.stringify(visitor)).toString('base64url');
    const expires = String(this.clock.now().getTime() + this.validMs);
    return `${encoded}.${expires}.${this.keyedHash.of(this.kind, encoded, expires)}`;
  }

  read(token: string): Visitor | null {
    if (token.length > MAX_CHARACTERS) return null;
    const [encoded = '', expires = '', given = ''] = token.split('.');
    const expected = Buffer.from(this.keyedHash.of(this.kind, encoded, expires));
    const hash = Buffer.from(given);
    if (hash.length !== expected.length || !timingSafeEqual(hash, expected)) return null;
    if (Number(expires) <= this.clock.now().getTime()) return null;
    return JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Visitor;
  }
}

export function readBearer({ headers }: FastifyRequest): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

/** The limit of polls as a multiple of the limit of calls, because people at one address may share a link. */
const POLLING_PAGES = 5;

/**
 * The rate limits of visitors (ADR 108). Each address has one limit per visitor and one per owner (merchant,
 * key), because their ids are public. Calls above the limit per owner share one limit for all addresses.
 */
@Injectable()
export class VisitorLimits {
  private readonly visitors: LocalRateLimiter;
  private readonly shares: LocalRateLimiter;
  private readonly owners: LocalRateLimiter;
  private readonly polls: LocalRateLimiter;

  constructor(@Inject(httpConfig.KEY) config: HttpConfig) {
    this.polls = new LocalRateLimiter(POLLING_PAGES * config.rateLimitPerMinute);
    this.visitors = new LocalRateLimiter(config.rateLimitPerMinute);
    this.shares = new LocalRateLimiter(config.rateLimitPerMinute);
    this.owners = new LocalRateLimiter(addressLimit(config));
  }

  take(address: string, owner: string, visitor: string): void {
    const client = toClient(address);
    const isAboveShare = () => this.shares.take(`${client} ${owner}`) !== null;
    refuseUntil(
      this.visitors.take(`${client} ${visitor}`) ?? (isAboveShare() ? this.owners.take(owner) : null),
    );
  }

  takePoll(address: string, visitor: string): void {
    refuseUntil(this.polls.take(`${toClient(address)} ${visitor}`));
  }
}
