import { Inject } from '@nestjs/common';
import { Command, CommandBus, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import {
  ClaimTaken,
  COMMAND_LOOP,
  type Claim,
  type CommandLoop,
} from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { ActivateUser, WalletsView } from '../../users/contract.js';
import {
  completeOnboarding,
  onboarding,
  recordCard,
  recordKycOutcome,
  recordWallet,
  type Onboarding,
  type OnboardingEvent,
  type Stage,
} from '../domain/onboarding.js';
import {
  CARD_ISSUER,
  IDENTITY_VERIFIER,
  WALLET_PROVISIONER,
  type CardIssuer,
  type IdentityVerifier,
  type WalletProvisioner,
} from './ports.js';

/**
 * Takes an onboarding as far as the service can alone: identity, wallet, card, activation of the user, completion.
 * Every step finds out by the stage whether it was done, and every provider gives the same for the same ids, so that
 * a repeat after a crash at any point is harmless. The user is active before the completion is written: whoever hears
 * of it finds the account `active`. Throws what a provider throws, and {@link WalletTaken}.
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

interface Step {
  readonly decide: (state: Onboarding) => OnboardingEvent[];
  readonly claims?: readonly Claim[];
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
    private readonly walletsInUse: WalletsView,
  ) {}

  async execute({ userId }: AdvanceOnboarding): Promise<Stage> {
    let { state } = await this.loop.load(onboarding, userId);
    for (;;) {
      const step = await this.nextStep(state);
      if (step === null) return state.stage;
      try {
        ({ state } = await this.loop.execute(onboarding, userId, step.decide, { claims: step.claims ?? [] }));
      } catch (error) {
        if (error instanceof ClaimTaken) throw new WalletTaken();
        throw error;
      }
    }
  }

  /** Does the outside part of the step that follows `state`; null when the next step is not the service's. */
  private async nextStep(state: Onboarding): Promise<Step | null> {
    switch (state.stage) {
      case 'kyc_submitted': {
        const outcome = await this.identity.verify(state);
        const { verificationId } = state;
        return {
          decide: (current) => recordKycOutcome({ verificationId, outcome, at: this.now() }, current),
        };
      }
      case 'kyc_passed': {
        const issuerWalletAddress = await this.wallets.provision(state.userId);
        if (await this.walletsInUse.isOfAnother(state.userId, issuerWalletAddress)) {
          throw new WalletTaken();
        }
        return {
          decide: (current) => recordWallet({ issuerWalletAddress, at: this.now() }, current),
          claims: [walletClaim(issuerWalletAddress)],
        };
      }
      case 'wallet_provisioned': {
        const { cardId } = await this.cards.issue(state);
        return { decide: (current) => recordCard({ cardId, at: this.now() }, current) };
      }
      case 'card_issued':
        await this.commandBus.execute(new ActivateUser(state.userId, state.issuerWalletAddress));
        return { decide: (current) => completeOnboarding({ at: this.now() }, current) };
      default:
        return null;
    }
  }

  private now(): string {
    return timestamp(this.clock);
  }
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
