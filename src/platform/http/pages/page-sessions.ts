import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../kernel/clock.js';
import type { KeyedHash } from '../../sealing/keyed-hash.js';

const MAX_CHARACTERS = 8192;

/**
 * What the script of a page sends with its calls: for whom the page was opened and until when, under a keyed hash. Nothing
 * is stored, and nothing in it can be changed: `<visitor as JSON in base64url>.<expiry in epoch ms>.<hash>`.
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
export function bearerOf({ headers }: FastifyRequest): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}
