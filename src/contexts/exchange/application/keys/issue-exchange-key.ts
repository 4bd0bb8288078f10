import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { isUuid, newId } from '../../../../kernel/ids.js';
import { CommandHandler } from '../../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../../platform/event-store/command-loop.js';
import { merchant } from '../../../merchants/contract.js';
import { issueExchangeKey, type MemoSigning } from '../../domain/exchange-key.js';
import { ExchangeKeyChanges, type ExchangeKeyChanged } from './exchange-key-changes.js';
import { ExchangeKeySecrets } from './exchange-key-secrets.js';

/** `secret` is shown to the operator once; nothing in the service can show it again. */
export interface IssuedSecret extends ExchangeKeyChanged {
  readonly secretId: string;
  readonly secret: string;
}

/** `keyId` is the `api_key`. */
export interface IssuedExchangeKey extends IssuedSecret {
  readonly keyId: string;
}

/** A new key of a registered merchant, with its first secret. Throws `not_found`, or `validation_failed`. */
export class IssueExchangeKey extends Command<IssuedExchangeKey> {
  constructor(
    readonly merchantId: string,
    readonly demandsSignature: boolean,
    readonly label: string | null = null,
    readonly memoSigning: MemoSigning = 'contract',
  ) {
    super();
  }
}

@CommandHandler(IssueExchangeKey)
export class IssueExchangeKeyHandler implements ICommandHandler<IssueExchangeKey> {
  constructor(
    private readonly keys: ExchangeKeyChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: ExchangeKeySecrets,
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
  ) {}

  async execute(issue: IssueExchangeKey): Promise<IssuedExchangeKey> {
    const { merchantId, demandsSignature, label, memoSigning } = issue;
    const id = merchantId.toLowerCase();
    // Its events, as the directory may be behind: a merchant that was registered can have a key.
    if (!isUuid(id) || (await this.loop.load(merchant, id)).state.status === 'unknown')
      throw DomainError.notFound('Merchant');
    const keyId = newId();
    const { secret, ...made } = this.secrets.generate(keyId);
    const at = timestamp(this.clock);
    const command = {
      ...{ keyId, merchantId: id, label, demandsSignature, memoSigning },
      ...{ secret: made, at },
    };
    const { visible } = await this.keys.change(keyId, (state) => issueExchangeKey(command, state));
    return { keyId, secretId: made.secretId, secret, visible };
  }
}
