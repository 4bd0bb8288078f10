import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../kernel/clock.js';
import { httpConfig, type HttpConfig } from '../../config/config.js';
import type { KeyedHash } from '../../sealing/keyed-hash.js';
import { addressLimit, toClient, LocalRateLimiter, refuseUntil } from '../rate-limit.guard.js';

const MAX_CHARACTERS = 8192;

/**
 * What the script of a page sends with its calls: for whom the page was opened and until when, under a keyed hash. Nothing
 * is stored: `<visitor as JSON in base64url>.<expiry in epoch ms>.<hash>`.
 */
export abstract class PageSessions<Visitor> {
  constructor(
    /** A session of one kind is none of another. */
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

  /** The visitor whose session it is; null for one that was not opened here, or that has ended. */
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

/** The Bearer token of a request; empty when it has none. */
export function readBearer({ headers }: FastifyRequest): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

/** The reads of polling pages are limited to so many times the other calls: people at one address share a link. */
const POLLING_PAGES = 5;

/**
 * How often people may send requests. Ids of owners (a merchant, a key) and visitors are public, so an address has a limit
 * for each visitor and each owner; requests above it share the limit of an address (docs/adr/0108).
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

  /** Counts a request. Throws Refusal (429). */
  take(address: string, owner: string, visitor: string): void {
    const client = toClient(address);
    refuseUntil(this.visitors.take(`${client} ${visitor}`) ?? this.ofOwner(client, owner));
  }

  /** Counts a read of a page that polls, apart from its other calls. Throws Refusal (429). */
  takePoll(address: string, visitor: string): void {
    refuseUntil(this.polls.take(`${toClient(address)} ${visitor}`));
  }

  private ofOwner(client: string, owner: string): number | null {
    return this.shares.take(`${client} ${owner}`) === null ? null : this.owners.take(owner);
  }
}
