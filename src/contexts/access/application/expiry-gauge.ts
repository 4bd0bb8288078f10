import { Injectable } from '@nestjs/common';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { credentialExpiry } from '../metrics.js';
import { CredentialIndex } from '../views/credentials.js';

const EVERY_MS = 60_000;

/** Measures which credential expires next. */
@Injectable()
export class ExpiryGauge {
  constructor(private readonly index: CredentialIndex) {}

  @Periodic({ name: 'gauge of credentials that expire', everyMs: EVERY_MS })
  async measure(): Promise<void> {
    const next = await this.index.nextExpiries();
    // A credential that was rolled or revoked must not keep its date.
    credentialExpiry.reset();
    for (const { kind, expiresAt } of next) credentialExpiry.set({ kind }, expiresAt.getTime() / 1000);
  }
}
