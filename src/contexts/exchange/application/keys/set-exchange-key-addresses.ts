import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { CommandHandler } from '../../../../platform/commands.js';
import { canonicalCidrs } from '../../../merchants/contract.js';
import { setAddresses } from '../../domain/exchange-key.js';
import { ExchangeKeyChanges, type ExchangeKeyChanged } from './exchange-key-changes.js';

/**
 * Calls with the key from outside these addresses and CIDR ranges get 403; none: anywhere.
 * Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed` on `cidrs`.
 */
export class SetExchangeKeyAddresses extends Command<ExchangeKeyChanged> {
  constructor(
    readonly keyId: string,
    readonly cidrs: readonly string[],
  ) {
    super();
  }
}

@CommandHandler(SetExchangeKeyAddresses)
export class SetExchangeKeyAddressesHandler implements ICommandHandler<SetExchangeKeyAddresses> {
  constructor(
    private readonly keys: ExchangeKeyChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: SetExchangeKeyAddresses): Promise<ExchangeKeyChanged> {
    const cidrs = canonicalCidrs(command.cidrs);
    const at = timestamp(this.clock);
    return this.keys.change(command.keyId, (state) => setAddresses({ cidrs, at }, state));
  }
}
