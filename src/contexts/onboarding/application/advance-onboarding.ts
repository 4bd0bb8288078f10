import { Inject } from '@nestjs/common';
import { Command, CommandBus, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
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
import type { OnboardingEvent } from '../domain/onboarding-events.js';
import {
  onboarding,
  type Onboarding,
  type Stage,
  type Submitted,
  type WithWallet,
} from '../domain/onboarding.js';
import { isFailpoint } from '../failpoints.js';
import { Images } from '../store/images.js';
import { Verifications } from '../store/verifications.js';
import {
  CARD_ISSUER,
  IDENTITY_VERIFIER,
  ProviderRefusal,
  WALLET_PROVISIONER,
  type CardIssuer,
  type IdentityRequest,
  type IdentityVerifier,
  type WalletProvisioner,
} from './ports.js';
import { findApplicant } from './applicant.js';
import { calling } from './provider-call.js';

/**
 * Takes an onboarding as far as the service can alone: identity, wallet, card, activation of the user, completion.
 * Every step finds out by the stage whether it was done, and every provider gives the same for the same ids, so that
 * a repeat after a crash at any point is harmless. The user is active before the completion is written: whoever hears
 * of it finds the account `active`. What a provider refuses for good is a failed stage with its reason. Gives the stage
 * it came to: `kyc_submitted` is under review. Throws what else a provider throws, {@link WalletTaken}, and
 * `invalid_transition` or `not_found` for a user who is on the way out or erased.
 */
export class AdvanceOnboarding extends Command<Stage> {
  constructor(readonly userId: string) {
    super();
  }
}

/** The provider gave a wallet that another user has: nothing is written, and the provider is asked again later. */
export class WalletTaken extends Error {
  override readonly name = 'WalletTaken';
  constructor() {
    super('the wallet that was provisioned belongs to another user');
  }
}

const ACTOR = 'onboarding.steps';

interface Step {
  readonly decide: (state: Onboarding) => OnboardingEvent[];
  readonly claims?: readonly Claim[];
  /** Before {@link WalletTaken} is thrown. */
  readonly claimHeld?: () => Promise<void>;
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
        await step.claimHeld?.();
        throw new WalletTaken();
      }
    }
  }

  /** Does the outside part of the step that follows `state`; null when the next step is not the service's. */
  private async nextStep(state: Onboarding, lastId: string | null): Promise<Step | null> {
    switch (state.stage) {
      case 'kyc_submitted':
        return this.verify(state);
      case 'kyc_passed': {
        await this.applicant(state);
        const { address, derivation } = await calling('wallet', () => this.wallets.provision(state.userId));
        failpoint('onboarding.wallet_given');
        return {
          decide: (current) =>
            recordWallet({ issuerWalletAddress: address, derivation, at: this.now() }, current),
          claims: [walletClaim(address)],
          claimHeld: () => this.wallets.replace(state.userId, address),
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

  /** Null while the provider has not decided. */
  private async verify(state: Submitted): Promise<Step | null> {
    const { verificationId, userId, details } = state;
    const { provider } = this.identity;
    await this.applicant(state);
    const { opened_at } = await this.verifications.open(verificationId, provider, userId);
    // An erasure that comes from here on finds what was opened.
    await this.applicant(state);
    const request: IdentityRequest = {
      ...{ verificationId, userId, details },
      images: () => this.images.of(userId),
      handedOver: () => this.images.deleteUntil(userId, opened_at),
    };
    const outcome = await calling('identity', () => this.identity.decide(request)).catch(
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
      const { cardId } = await calling('card', () => this.cards.issue(request));
      return { decide: (current) => recordCard({ cardId, at: this.now() }, current) };
    } catch (error) {
      const reason = reasonOf(error);
      return { decide: (current) => recordCardFailure({ attempt, reason, at: this.now() }, current) };
    }
  }

  /** Nobody is asked for anything for somebody who left meanwhile. */
  private applicant({ merchantId, userId }: Submitted): Promise<ExistingUser> {
    return findApplicant(this.users, merchantId, userId);
  }

  private now(): string {
    return timestamp(this.clock);
  }
}

/** Throws what is no refusal for good. */
function reasonOf(error: unknown): string {
  if (error instanceof ProviderRefusal) return error.reason;
  throw error;
}

/** The activation is written in another stream: it says which event of the onboarding it follows from. */
function followsFrom(lastId: string | null): EventMetadata {
  return { actor: ACTOR, ...(lastId === null ? {} : { causation_id: lastId }) };
}

/** Before a card is issued for it; the activation claims it for the user itself. */
function walletClaim(address: string): Claim {
  return {
    category: 'onboarding_wallet',
    key: address.toLowerCase(),
    field: 'issuer_wallet_address',
    message: 'belongs to another user',
  };
}
