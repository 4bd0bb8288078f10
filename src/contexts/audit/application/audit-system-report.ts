import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import type { AuditStatus } from '../../../platform/operations/system-report.js';
import { LastVerifies } from '../store/last-verify.js';
import { PayoutProofs } from './payout-proofs.js';

/** What the audit reports to `GET /admin/v1/system`. */
@Injectable()
export class AuditSystemReport {
  constructor(
    private readonly proofs: PayoutProofs,
    private readonly verifies: LastVerifies,
  ) {}

  async read(): Promise<AuditStatus> {
    const head = await this.proofs.newestHead().catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'unavailable') return null;
      throw error;
    });
    return { head, last_verify: await this.verifies.read() };
  }
}
