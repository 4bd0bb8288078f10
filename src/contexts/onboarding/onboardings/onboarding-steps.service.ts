import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import { failpoint } from '../../../platform/failpoints.js';
import { Forgets, type ErasedPerson } from '../../../platform/operations/erasure.js';
import { ActivateUser, type ExistingUser } from '../../users/users.contract.js';
import {
  completeOnboarding,
  recordCard,
  recordCardFailure,
  recordKycOutcome,
  recordWallet,
} from './decisions.js';
import type { Onboarding, Applicant, Stage, Submitted, WithWallet } from './onboarding.js';
import { Images } from '../identity/images.store.js';
import { Verifications } from '../identity/verifications.store.js';
import en from '../words/en.json' with { type: 'json' };
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import {
  CardIssuer,
  IdentityVerifier,
  WalletProvisioner,
  type IdentityRequest,
} from '../providers/providers.ports.js';
import { Onboardings, type Decision } from './onboardings.commands.js';
import { measureCall } from '../onboarding.metrics.js';

const ACTOR = 'onboarding.steps';
const WRITTEN = { metadata: { actor: ACTOR }, follows: true } as const;

interface Step {
  readonly decide: Decision;
  readonly wallet?: string;
}

/** Performs the automatic steps, and erases persons at the providers. */
@Injectable()
export class OnboardingSteps {
  constructor(
    private readonly identity: IdentityVerifier,
    private readonly wallets: WalletProvisioner,
    private readonly cards: CardIssuer,
    private readonly commandBus: CommandBus,
    private readonly onboardings: Onboardings,
    private readonly images: Images,
    private readonly verifications: Verifications,
  ) {}

  /**
   * Performs the pending steps and returns the stage (`kyc_submitted` is under review). Repeats after a crash
   * are harmless: providers return the same result for the same ids. A permanent refusal fails the stage.
   * Throws other provider errors, and `invalid_transition` or `not_found` for a deactivating or erased user.
   */
  async advance(userId: string): Promise<Stage> {
    let { state, lastId } = await this.onboardings.load(userId);
    for (;;) {
      const step = await this.nextStep(state, lastId);
      if (step === null) return state.stage;
      try {
        const claims = step.wallet === undefined ? [] : [walletClaim(step.wallet)];
        ({ state, lastId } = await this.onboardings.execute(userId, step.decide, { ...WRITTEN, claims }));
      } catch (error) {
        if (!(error instanceof ClaimHeld)) throw error;
        throw new ProviderUnavailable('the wallet that was provisioned belongs to another user');
      }
    }
  }

  /** Calls the provider of the next automatic step, if any. Throws before the call for a deactivated user. */
  private async nextStep(state: Onboarding, lastId: string | null): Promise<Step | null> {
    switch (state.stage) {
      case 'kyc_submitted':
        return this.verify(state);
      case 'kyc_passed': {
        await this.applicant(state);
        const { address, derivation } = await measureCall('wallet', () =>
          this.wallets.provision(state.user_id),
        );
        failpoint('onboarding.wallet_given');
        return {
          decide: (current, at) => recordWallet({ issuer_wallet_address: address, derivation, at }, current),
          wallet: address,
        };
      }
      case 'wallet_provisioned':
        return this.issueCard(state);
      case 'card_issued':
        await this.commandBus.execute(
          new ActivateUser(state.user_id, state.issuer_wallet_address, {
            actor: ACTOR,
            ...(lastId === null ? {} : { causation_id: lastId }),
          }),
        );
        failpoint('onboarding.user_activated');
        return { decide: (current, at) => completeOnboarding({ at }, current) };
      default:
        return null;
    }
  }

  private async verify(state: Submitted): Promise<Step | null> {
    const { verification_id, user_id: userId, details } = state;
    const { provider } = this.identity;
    await this.applicant(state);
    const { opened_at } = await this.verifications.open(verification_id, provider, userId);
    // Rejects a user erased before the row existed; a later erasure deletes the row.
    await this.applicant(state);
    const request: IdentityRequest = {
      verificationId: verification_id,
      userId,
      details,
      images: () => this.images.of(userId),
      deleteImages: () => this.images.deleteUntil(userId, opened_at),
    };
    const outcome = await measureCall('identity', () => this.identity.decide(request)).catch(
      (error: unknown) => ({ passed: false as const, reason: toReason(error) }),
    );
    failpoint('onboarding.identity_decided');
    if (outcome === 'under_review') return null;
    const decided = { verification_id, provider, outcome };
    return { decide: (current, at) => recordKycOutcome({ ...decided, at }, current) };
  }

  private async issueCard(state: WithWallet): Promise<Step> {
    const { user_id: userId, details, card_attempt: attempt } = state;
    const { phone_number: phoneNumber, email } = await this.applicant(state);
    const request = { userId, details, attempt, phoneNumber, email };
    try {
      const { cardId: card_id } = await measureCall('card', () => this.cards.issue(request));
      return { decide: (current, at) => recordCard({ card_id, at }, current) };
    } catch (error) {
      const reason = toReason(error);
      return { decide: (current, at) => recordCardFailure({ attempt, reason, at }, current) };
    }
  }

  /** Erases the person at the providers, then the rows with their ids. Provider errors are retried. */
  @Forgets('onboarding')
  async forget({ userId }: Pick<ErasedPerson, 'userId'>): Promise<boolean> {
    await this.verifications.dropPending(userId);
    await measureCall('identity', () => this.identity.forget(userId));
    await measureCall('card', () => this.cards.forget(userId));
    await this.verifications.dropAll(userId);
    return true;
  }

  private applicant({ merchant_id, user_id }: Applicant): Promise<ExistingUser> {
    return this.onboardings.applicant(merchant_id, user_id);
  }

  /** Fails a check or card whose retries have ended; the person may retry it. Changes no other stage. */
  async giveUp(userId: string): Promise<Stage> {
    const { provider } = this.identity;
    const fail: Decision = (state, at) => {
      if (state.stage === 'kyc_submitted') {
        const outcome = { passed: false, reason: en.reasonNotChecked } as const;
        return recordKycOutcome({ verification_id: state.verification_id, provider, outcome, at }, state);
      }
      if (state.stage !== 'wallet_provisioned') return [];
      return recordCardFailure({ attempt: state.card_attempt, reason: en.reasonNotIssued, at }, state);
    };
    return (await this.onboardings.execute(userId, fail, WRITTEN)).state.stage;
  }
}

function toReason(error: unknown): string {
  if (error instanceof ProviderRefused) return error.message;
  throw error;
}

/** The claim that makes a wallet unique among users. It is acquired before a card is issued. */
function walletClaim(address: string): Claim {
  return {
    category: 'onboarding_wallet',
    key: address.toLowerCase(),
    field: 'issuer_wallet_address',
    message: 'belongs to another user',
  };
}
