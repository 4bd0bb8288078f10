import { Inject, Injectable } from '@nestjs/common';
import { Forgets, type ErasedPerson } from '../../../platform/operations/erasure.js';
import { Verifications } from '../store/verifications.js';
import { CARD_ISSUER, IDENTITY_VERIFIER, type CardIssuer, type IdentityVerifier } from './ports.js';
import { measureCall } from './provider-call.js';

/**
 * Has the identity provider and the card issuer erase the person while the rows that name their objects exist, then drops
 * the rows. Throws errors of providers: the erasure retries.
 */
@Injectable()
export class ApplicantErasure {
  constructor(
    private readonly rows: Verifications,
    @Inject(IDENTITY_VERIFIER) private readonly verifier: IdentityVerifier,
    @Inject(CARD_ISSUER) private readonly issuer: CardIssuer,
  ) {}

  @Forgets('onboarding')
  async forget({ userId }: Pick<ErasedPerson, 'userId'>): Promise<boolean> {
    await this.rows.dropPending(userId);
    await measureCall('identity', () => this.verifier.forget(userId));
    await measureCall('card', () => this.issuer.forget(userId));
    await this.rows.dropAll(userId);
    return true;
  }
}
