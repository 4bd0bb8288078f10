import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid, newId } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { setAddresses } from '../domain/credential.js';
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
import { AccessCommands, type IssuedSecret, type SecretOrder } from './access-commands.js';

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
class IssueExchangeKeyHandler implements ICommandHandler<IssueExchangeKey> {
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

/** The key ends with its last secret. Throws `not_found`. */
export class RevokeExchangeSecret extends Command<void> {
  constructor(
    readonly keyId: string,
    readonly secretId: string,
    readonly cause?: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(RevokeExchangeSecret)
class RevokeExchangeSecretHandler implements ICommandHandler<RevokeExchangeSecret> {
  constructor(private readonly access: AccessCommands) {}

  execute({ keyId, secretId, cause }: RevokeExchangeSecret): Promise<void> {
    return this.access.change(
      exchangeKey,
      keyId,
      (state, at) => revokeExchangeSecret({ secretId, at }, state),
      [],
      cause,
    );
  }
}

const EXCHANGE_KEY = {
  scope: 'credentials:write',
  subject: 'exchange_key',
  streams: (keyId: string) => [`exchange_key-${keyId}`],
} as const;

/**
 * Calls from outside these addresses and CIDR ranges get 403; none: anywhere. Throws `not_found`, `invalid_transition` for a
 * revoked key, or `validation_failed`.
 */
@Operation({ ...EXCHANGE_KEY, name: 'credentials.restrict' })
export class RestrictExchangeKey extends OperatorCommand<{ readonly addresses: readonly string[] }> {}

@CommandHandler(RestrictExchangeKey)
class RestrictExchangeKeyHandler implements OperationHandler<RestrictExchangeKey> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId, parameters: { addresses } }: RestrictExchangeKey): Promise<void> {
    const cidrs = canonicalCidrs(addresses);
    await this.access.change(exchangeKey, subjectId, (state, at) =>
      setAddresses('exchange_key', { cidrs, at }, state),
    );
  }
}

/** Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed`. */
@Operation({ ...EXCHANGE_KEY, name: 'credentials.set_page' })
export class SetExchangeKeyPage extends OperatorCommand<{ readonly page: PayPageSettings }> {}

@CommandHandler(SetExchangeKeyPage)
class SetExchangeKeyPageHandler implements OperationHandler<SetExchangeKeyPage> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId, parameters: { page } }: SetExchangeKeyPage): Promise<void> {
    await this.access.change(exchangeKey, subjectId, (state, at) => setPage({ page, at }, state));
  }
}

/** Requests with this key are refused from now on, for good; its orders continue. Throws `not_found`. */
@Operation({ ...EXCHANGE_KEY, name: 'credentials.revoke_key' })
export class RevokeExchangeKey extends OperatorCommand {}

@CommandHandler(RevokeExchangeKey)
class RevokeExchangeKeyHandler implements OperationHandler<RevokeExchangeKey> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId }: RevokeExchangeKey): Promise<void> {
    await this.access.change(exchangeKey, subjectId, (state, at) => revokeExchangeKey({ at }, state));
  }
}

export const EXCHANGE_KEY_HANDLERS = [
  IssueExchangeKeyHandler,
  RestrictExchangeKeyHandler,
  RevokeExchangeKeyHandler,
  RevokeExchangeSecretHandler,
  SetExchangeKeyPageHandler,
];
