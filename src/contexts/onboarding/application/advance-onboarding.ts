import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  ClaimHeld,
  COMMAND_LOOP,
  type Claim,
  type CommandLoop,
} from '../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { ActivateUser, UsersView, type ExistingUser } from '../../users/contract.js';
import {
  completeOnboarding,
  recordCard,
  recordCardFailure,
  recordKycOutcome,
  recordWallet,
} from '../domain/decisions.js';
import {
  onboarding,
  type OnboardingEvent,
  type Onboarding,
  type Stage,
  type Submitted,
  type WithWallet,
} from '../domain/onboarding.js';
import { isFailpoint } from '../failpoints.js';
import { Images } from '../store/images.js';
import { Verifications } from '../store/verifications.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import {
  CARD_ISSUER,
  IDENTITY_VERIFIER,
  WALLET_PROVISIONER,
  type CardIssuer,
  type IdentityRequest,
  type IdentityVerifier,
  type WalletProvisioner,
} from './ports.js';
import { findApplicant } from './person-commands.js';
import { measureCall } from './provider-call.js';

/**
 * Advances an onboarding as far as the service can alone: identity, wallet, card, activation of the user, completion. The
 * stage says what is done, and providers return the same result for the same ids, so a repeat after a crash is harmless.
 * The user is active before the completion is written. A refusal for good is a failed stage with its reason. Returns the
 * stage; `kyc_submitted` is under review. Throws other errors of a provider, {@link WalletConflict}, and
 * `invalid_transition` or `not_found` for a user who is deactivating or erased.
 */
export class AdvanceOnboarding extends Command<Stage> {
  constructor(readonly userId: string) {
    super();
  }
}

/** The provisioned wallet belongs to another user: nothing is written, and the step is retried. */
class WalletConflict extends Error {
  override readonly name = 'WalletConflict';
  constructor() {
    super('the wallet that was provisioned belongs to another user');
  }
}

const ACTOR = 'onboarding.steps';

interface Step {
  readonly decide: (state: Onboarding) => OnboardingEvent[];
  readonly claims?: readonly Claim[];
  readonly onConflict?: () => Promise<void>;
}

@CommandHandler(AdvanceOnboarding)
export class AdvanceOnboardingHandler implements ICommandHandler<AdvanceOnboarding> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDENTITY_VERIFIER) private readonly identity: IdentityVerifier,
    @Inject(WALLET_PROVISIONER) private readonly wallets: WalletProvisioner,
    @Inject(CARD_ISSUER) private readonly cards: CardIssuer,
    private readonly commandBus: CommandBus,
    private readonly users: UsersView,
    private readonly images: Images,
    private readonly verifications: Verifications,
  ) {}

  async execute({ userId }: AdvanceOnboarding): Promise<Stage> {
    let { state, lastId } = await this.loop.load(onboarding, userId);
    for (;;) {
      const step = await this.nextStep(state, lastId);
      if (step === null) return state.stage;
      try {
        ({ state, lastId } = await this.loop.execute(onboarding, userId, step.decide, {
          metadata: { actor: ACTOR },
          follows: true,
          claims: step.claims ?? [],
        }));
        const recorded = `onboarding.${state.stage}`;
        if (isFailpoint(recorded)) failpoint(recorded);
      } catch (error) {
        if (!(error instanceof ClaimHeld)) throw error;
        await step.onConflict?.();
        throw new WalletConflict();
      }
    }
  }

  /** Calls the provider of the step that follows `state`; null when the next step is the person's. */
  private async nextStep(state: Onboarding, lastId: string | null): Promise<Step | null> {
    switch (state.stage) {
      case 'kyc_submitted':
        return this.verify(state);
      case 'kyc_passed': {
        await this.applicant(state);
        const { address, derivation } = await measureCall('wallet', () =>
          this.wallets.provision(state.userId),
        );
        failpoint('onboarding.wallet_given');
        return {
          decide: (current) =>
            recordWallet({ issuerWalletAddress: address, derivation, at: this.now() }, current),
          claims: [walletClaim(address)],
          onConflict: () => this.wallets.replace(state.userId, address),
        };
      }
      case 'wallet_provisioned':
        return this.issueCard(state);
      case 'card_issued':
        await this.commandBus.execute(
          new ActivateUser(state.userId, state.issuerWalletAddress, followsFrom(lastId)),
        );
        failpoint('onboarding.user_activated');
        return { decide: (current) => completeOnboarding({ at: this.now() }, current) };
      default:
        return null;
    }
  }

  private async verify(state: Submitted): Promise<Step | null> {
    const { verificationId, userId, details } = state;
    const { provider } = this.identity;
    await this.applicant(state);
    const { opened_at } = await this.verifications.open(verificationId, provider, userId);
    // An erasure from here on finds the verification.
    await this.applicant(state);
    const request: IdentityRequest = {
      verificationId,
      userId,
      details,
      images: () => this.images.of(userId),
      deleteImages: () => this.images.deleteUntil(userId, opened_at),
    };
    const outcome = await measureCall('identity', () => this.identity.decide(request)).catch(
      (error: unknown) => ({ passed: false as const, reason: reasonOf(error) }),
    );
    failpoint('onboarding.identity_decided');
    if (outcome === 'under_review') return null;
    const decided = { verificationId, provider, outcome };
    return { decide: (current) => recordKycOutcome({ ...decided, at: this.now() }, current) };
  }

  private async issueCard(state: WithWallet): Promise<Step> {
    const { userId, issuerWalletAddress, details, cardAttempt: attempt } = state;
    const { phoneNumber, email } = await this.applicant(state);
    const request = { userId, issuerWalletAddress, details, phoneNumber, email, attempt };
    try {
      const { cardId } = await measureCall('card', () => this.cards.issue(request));
      return { decide: (current) => recordCard({ cardId, at: this.now() }, current) };
    } catch (error) {
      const reason = reasonOf(error);
      return { decide: (current) => recordCardFailure({ attempt, reason, at: this.now() }, current) };
    }
  }

  /** Throws for a user who was deactivated meanwhile: no provider is called. */
  private applicant({ merchantId, userId }: Submitted): Promise<ExistingUser> {
    return findApplicant(this.users, merchantId, userId);
  }

  private now(): string {
    return timestamp(this.clock);
  }
}

/** Throws errors that are not refusals. */
function reasonOf(error: unknown): string {
  if (error instanceof ProviderRefused) return error.message;
  throw error;
}

function followsFrom(lastId: string | null): EventMetadata {
  return { actor: ACTOR, ...(lastId === null ? {} : { causation_id: lastId }) };
}

/** Claimed before a card is issued for it, and again by the activation. */
function walletClaim(address: string): Claim {
  return {
    category: 'onboarding_wallet',
    key: address.toLowerCase(),
    field: 'issuer_wallet_address',
    message: 'belongs to another user',
  };
}

export const NOT_CHECKED =
  'Your identity could not be checked because of a problem on our side. Please try again.';
export const NOT_ISSUED = 'Your card could not be issued because of a problem on our side. Please try again.';

/** Ends the retries of a step: it has failed, and may be tried again. A step without a failed stage stays as it is. */
export class GiveUp extends Command<Stage> {
  constructor(readonly userId: string) {
    super();
  }
}

@CommandHandler(GiveUp)
export class GiveUpHandler implements ICommandHandler<GiveUp> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDENTITY_VERIFIER) private readonly identity: IdentityVerifier,
  ) {}

  async execute({ userId }: GiveUp): Promise<Stage> {
    const written = { metadata: { actor: 'onboarding.steps' }, follows: true } as const;
    return (await this.loop.execute(onboarding, userId, (state) => this.decide(state), written)).state.stage;
  }

  private decide(state: Onboarding): OnboardingEvent[] {
    const at = timestamp(this.clock);
    if (state.stage === 'kyc_submitted') {
      const outcome = { passed: false, reason: NOT_CHECKED } as const;
      const { verificationId } = state;
      return recordKycOutcome({ verificationId, provider: this.identity.provider, outcome, at }, state);
    }
    if (state.stage !== 'wallet_provisioned') return [];
    return recordCardFailure({ attempt: state.cardAttempt, reason: NOT_ISSUED, at }, state);
  }
}
