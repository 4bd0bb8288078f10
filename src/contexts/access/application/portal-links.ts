import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { newId, uuidOf } from '../../../kernel/ids.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{64}$/;

/** Codes and tokens of the portal: in base64url the id of the session and 32 random bytes; a keyed hash is stored. */
@Injectable()
export class PortalLinks {
  constructor(private readonly keyedHash: KeyedHash) {}

  secretFor(sessionId: string): string {
    const id = Buffer.from(sessionId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, randomBytes(SECRET_BYTES)]).toString('base64url');
  }

  /** The session of a code or token; of text that is neither, an id that no session has. */
  idIn(secret: string): string {
    if (!SECRET.test(secret)) return newId();
    return uuidOf(Buffer.from(secret, 'base64url').subarray(0, ID_BYTES));
  }

  /** A code is no token. */
  hashOf(kind: 'code' | 'token', secret: string): string {
    return this.keyedHash.of(`portal ${kind}`, secret);
  }

  /** The code is in the fragment, so that no log has it. */
  entry(portalUrl: string, code: string): string {
    return `${portalUrl.replace(/\/+$/, '')}/enter#${code}`;
  }
}
