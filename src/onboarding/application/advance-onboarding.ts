import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { ActivateUser } from '../../users/contract.js';
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
 * a repeat after a crash at any point is harmless. Throws what a provider throws.
 */
export class AdvanceOnboarding extends Command<Stage> {
  constructor(readonly userId: string) {
    super();
  }
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
  ) {}

  async execute({ userId }: AdvanceOnboarding): Promise<Stage> {
    let { state } = await this.loop.load(onboarding, userId);
    for (;;) {
      const decide = await this.nextStep(state);
      if (decide === null) return state.stage;
      ({ state } = await this.loop.execute(onboarding, userId, decide));
    }
  }

  /** Does the outside part of the step that follows `state`; null when the next step is not the service's. */
  private async nextStep(state: Onboarding): Promise<((state: Onboarding) => OnboardingEvent[]) | null> {
    switch (state.stage) {
      case 'kyc_submitted': {
        const outcome = await this.identity.verify(state);
        const { verificationId } = state;
        return (current) => recordKycOutcome({ verificationId, outcome, at: this.now() }, current);
      }
      case 'kyc_passed': {
        const issuerWalletAddress = await this.wallets.provision(state.userId);
        return (current) => recordWallet({ issuerWalletAddress, at: this.now() }, current);
      }
      case 'wallet_provisioned': {
        const { cardId } = await this.cards.issue(state);
        return (current) => recordCard({ cardId, at: this.now() }, current);
      }
      case 'card_issued':
        await this.commandBus.execute(new ActivateUser(state.userId, state.issuerWalletAddress));
        return (current) => completeOnboarding({ at: this.now() }, current);
      default:
        return null;
    }
  }

  private now(): string {
    return this.clock.now().toISOString();
  }
}
