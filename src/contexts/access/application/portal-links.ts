import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { CONFIG, listenerUrl, type Config } from '../../../platform/config/config.js';
import { PORTAL_PAGE } from '../../../platform/http/admin/listeners.js';
import { PagesModule } from '../../../platform/http/pages/pages.module.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{64}$/;

/** Codes and tokens of the portal: in base64url the id of the session and 32 random bytes; a keyed hash is stored. */
@Injectable()
export class PortalLinks {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode' | 'portalUrl' | 'host' | 'portalPort'>,
    private readonly keyedHash: KeyedHash,
    private readonly modules: ModuleRef,
  ) {}

  secretFor(sessionId: string): string {
    const id = Buffer.from(sessionId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, randomBytes(SECRET_BYTES)]).toString('base64url');
  }

  /** The session of a code or token; of text that is neither, an id that no session has. */
  idIn(secret: string): string {
    if (!SECRET.test(secret)) return newId();
    const hex = Buffer.from(secret, 'base64url').toString('hex', 0, ID_BYTES);
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  /** A code is no token. */
  hashOf(kind: 'code' | 'token', secret: string): string {
    return this.keyedHash.of(`portal ${kind}`, secret);
  }

  /** The code is in the fragment, so that no log has it. Throws `unavailable` where the portal has no address. */
  entry(code: string): string {
    return `${this.base().replace(/\/+$/, '')}/enter#${code}`;
  }

  private base(): string {
    const { mode, portalUrl, host, portalPort } = this.config;
    if (portalUrl !== null) return portalUrl;
    if (mode === 'production') throw new DomainError('unavailable', 'The portal has no address');
    return listenerUrl(
      host,
      this.modules.get(PagesModule, { strict: false }).portOf(PORTAL_PAGE) ?? portalPort,
    );
  }
}
