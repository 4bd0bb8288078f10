import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { newId } from '../../../kernel/ids.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  setEmbedding,
  suspendMerchant,
  type Embedding,
} from '../domain/merchant.js';
import { Credentials, type CredentialChanged, type IssuedSecret } from './credentials.js';
import { canonicalCallbacks, canonicalOrigins } from './allow-lists.js';

/** `merchantId` is the `svc-api-key` of the merchant, `secret` its private key. */
interface RegisteredMerchant extends IssuedSecret {
  readonly merchantId: string;
}

/** A new merchant with its first private key. Throws `validation_failed` on `name`. */
export class RegisterMerchant extends Command<RegisteredMerchant> {
  constructor(readonly name: string) {
    super();
  }
}

@CommandHandler(RegisterMerchant)
export class RegisterMerchantHandler implements ICommandHandler<RegisterMerchant> {
  constructor(private readonly credentials: Credentials) {}

  async execute({ name }: RegisterMerchant): Promise<RegisteredMerchant> {
    const merchantId = newId();
    const issued = await this.credentials.issue('api_key', merchant, merchantId, (state, at, secret) =>
      registerMerchant({ merchantId, name, secret, at }, state),
    );
    return { merchantId, ...issued };
  }
}

/** Every call of the merchant gets 403 from now on. Throws `not_found`. */
export class SuspendMerchant extends Command<CredentialChanged> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(SuspendMerchant)
export class SuspendMerchantHandler implements ICommandHandler<SuspendMerchant> {
  constructor(private readonly credentials: Credentials) {}

  execute({ merchantId }: SuspendMerchant): Promise<CredentialChanged> {
    return this.credentials.change(merchant, merchantId, (state, at) => suspendMerchant({ at }, state));
  }
}

/** Ends a suspension. Throws `not_found`. */
export class ReinstateMerchant extends Command<CredentialChanged> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(ReinstateMerchant)
export class ReinstateMerchantHandler implements ICommandHandler<ReinstateMerchant> {
  constructor(private readonly credentials: Credentials) {}

  execute({ merchantId }: ReinstateMerchant): Promise<CredentialChanged> {
    return this.credentials.change(merchant, merchantId, (state, at) => reinstateMerchant({ at }, state));
  }
}

/**
 * Members that `change` does not have stay as they are. Throws `not_found`, or `validation_failed` on `origins`,
 * `callbacks` or `shown_as`.
 */
export class SetEmbedding extends Command<CredentialChanged> {
  constructor(
    readonly merchantId: string,
    readonly change: Partial<Embedding>,
  ) {
    super();
  }
}

@CommandHandler(SetEmbedding)
export class SetEmbeddingHandler implements ICommandHandler<SetEmbedding> {
  constructor(
    private readonly credentials: Credentials,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
  ) {}

  async execute({ merchantId, change: given }: SetEmbedding): Promise<CredentialChanged> {
    const { origins, callbacks, ...rest } = given;
    const change: Partial<Embedding> = {
      ...rest,
      ...(origins && { origins: canonicalOrigins(origins, this.config.mode) }),
      ...(callbacks && { callbacks: canonicalCallbacks(callbacks) }),
    };
    return this.credentials.change(merchant, merchantId, (state, at) => setEmbedding({ change, at }, state));
  }
}
