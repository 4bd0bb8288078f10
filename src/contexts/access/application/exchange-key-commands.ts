import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid, newId } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  exchangeKey,
  issueExchangeKey,
  revokeExchangeKey,
  revokeExchangeSecret,
  setPage,
  type MemoSigning,
  type PayPageSettings,
} from '../domain/exchange-key.js';
import { merchant } from '../domain/merchant.js';
import { canonicalCidrs } from './allow-lists.js';
import {
  AccessCommands,
  type CredentialChanged,
  type IssuedSecret,
  type SecretOrder,
} from './access-commands.js';

/** `keyId` is the `api_key`. */
interface IssuedExchangeKey extends IssuedSecret {
  readonly keyId: string;
}

/** A new key of a registered merchant, with its first secret. Throws `not_found`, or `validation_failed`. */
export class IssueExchangeKey extends Command<IssuedExchangeKey> {
  constructor(
    readonly merchantId: string,
    readonly demandsSignature: boolean,
    readonly label: string | null = null,
    readonly memoSigning: MemoSigning = 'contract',
    readonly order: ExchangeKeyOrder = {},
  ) {
    super();
  }
}

interface ExchangeKeyOrder extends SecretOrder {
  /** The same id is the same key again; null: a new one. */
  readonly keyId?: string | null;
  readonly cidrs?: readonly string[];
  readonly withdrawAddresses?: readonly string[];
}

@CommandHandler(IssueExchangeKey)
export class IssueExchangeKeyHandler implements ICommandHandler<IssueExchangeKey> {
  constructor(
    private readonly access: AccessCommands,
    private readonly loop: CommandLoop,
  ) {}

  async execute({ merchantId: given, order, ...key }: IssueExchangeKey): Promise<IssuedExchangeKey> {
    const merchantId = given.toLowerCase();
    // Its events, as the directory may be behind: a merchant that was registered can have a key.
    if (!isUuid(merchantId) || (await this.loop.load(merchant, merchantId)).state.status === 'unknown')
      throw DomainError.notFound('Merchant');
    const keyId = order.keyId ?? newId();
    const { secretId = null, name, expiresAt, withdrawAddresses = [] } = order;
    const settings = { ...key, withdrawAddresses, cidrs: canonicalCidrs(order.cidrs ?? []) };
    const issued = await this.access.issue(
      'exchange_key',
      exchangeKey,
      keyId,
      (state, at, secret) =>
        issueExchangeKey(
          { ...settings, keyId, merchantId, secret: { ...secret, name, expiresAt }, at },
          state,
        ),
      secretId,
    );
    return { keyId, ...issued };
  }
}

/** Requests with this key are refused from now on, for good; its orders continue. Throws `not_found`. */
export class RevokeExchangeKey extends Command<CredentialChanged> {
  constructor(readonly keyId: string) {
    super();
  }
}

@CommandHandler(RevokeExchangeKey)
export class RevokeExchangeKeyHandler implements ICommandHandler<RevokeExchangeKey> {
  constructor(private readonly access: AccessCommands) {}

  execute({ keyId }: RevokeExchangeKey): Promise<CredentialChanged> {
    return this.access.change(exchangeKey, keyId, (state, at) => revokeExchangeKey({ at }, state));
  }
}

/** The key ends with its last secret. Throws `not_found`. */
export class RevokeExchangeSecret extends Command<CredentialChanged> {
  constructor(
    readonly keyId: string,
    readonly secretId: string,
    readonly cause?: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(RevokeExchangeSecret)
export class RevokeExchangeSecretHandler implements ICommandHandler<RevokeExchangeSecret> {
  constructor(private readonly access: AccessCommands) {}

  execute({ keyId, secretId, cause }: RevokeExchangeSecret): Promise<CredentialChanged> {
    return this.access.change(
      exchangeKey,
      keyId,
      (state, at) => revokeExchangeSecret({ secretId, at }, state),
      [],
      cause,
    );
  }
}

/** Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed`. */
export class SetExchangeKeyPage extends Command<CredentialChanged> {
  constructor(
    readonly keyId: string,
    readonly page: PayPageSettings,
  ) {
    super();
  }
}

@CommandHandler(SetExchangeKeyPage)
export class SetExchangeKeyPageHandler implements ICommandHandler<SetExchangeKeyPage> {
  constructor(private readonly access: AccessCommands) {}

  execute({ keyId, page }: SetExchangeKeyPage): Promise<CredentialChanged> {
    return this.access.change(exchangeKey, keyId, (state, at) => setPage({ page, at }, state));
  }
}
