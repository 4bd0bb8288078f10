import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { newId } from '../../../kernel/ids.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  suspendMerchant,
  updateMerchant,
  type Embedding,
  type MerchantChange,
} from '../domain/merchant.js';
import { AccessCommands, type CredentialChanged, type IssuedSecret } from './access-commands.js';
import { canonicalCallbacks, canonicalCidrs, canonicalOrigins } from './allow-lists.js';

/** `merchantId` is the `svc-api-key` of the merchant, `secret` its private key. */
interface RegisteredMerchant extends IssuedSecret {
  readonly merchantId: string;
}

/** A new merchant with its first private key. Throws `validation_failed` on `name`. */
export class CreateMerchantWithKey extends Command<RegisteredMerchant> {
  constructor(readonly name: string) {
    super();
  }
}

@CommandHandler(CreateMerchantWithKey)
export class CreateMerchantWithKeyHandler implements ICommandHandler<CreateMerchantWithKey> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ name }: CreateMerchantWithKey): Promise<RegisteredMerchant> {
    const merchantId = newId();
    const issued = await this.access.issue('api_key', merchant, merchantId, (state, at, secret) =>
      registerMerchant({ merchantId, name, secret, at }, state),
    );
    return { merchantId, ...issued };
  }
}

/** A new merchant without a key. Throws `validation_failed` on `name`. */
export class CreateMerchant extends Command<CredentialChanged> {
  constructor(
    readonly merchantId: string,
    readonly name: string,
  ) {
    super();
  }
}

@CommandHandler(CreateMerchant)
export class CreateMerchantHandler implements ICommandHandler<CreateMerchant> {
  constructor(private readonly access: AccessCommands) {}

  execute({ merchantId, name }: CreateMerchant): Promise<CredentialChanged> {
    return this.access.change(merchant, merchantId, (state, at) =>
      registerMerchant({ merchantId, name, secret: null, at }, state),
    );
  }
}

/** At once, or not at all. Throws `not_found`, or `validation_failed` on the field at fault. */
export class UpdateMerchant extends Command<CredentialChanged> {
  constructor(
    readonly merchantId: string,
    readonly change: MerchantChange,
  ) {
    super();
  }
}

@CommandHandler(UpdateMerchant)
export class UpdateMerchantHandler implements ICommandHandler<UpdateMerchant> {
  constructor(
    private readonly access: AccessCommands,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
  ) {}

  async execute({ merchantId, change: given }: UpdateMerchant): Promise<CredentialChanged> {
    const change = canonicalChange(given, this.config.mode);
    return this.access.change(merchant, merchantId, (state, at) => updateMerchant({ change, at }, state));
  }
}

/** Throws `validation_failed` on the field at fault. */
export function canonicalChange(
  { cidrs, embedding, ...rest }: MerchantChange,
  mode: Config['mode'],
): MerchantChange {
  return {
    ...rest,
    ...(cidrs && { cidrs: canonicalCidrs(cidrs) }),
    ...(embedding && { embedding: canonicalEmbedding(embedding, mode) }),
  };
}

function canonicalEmbedding(given: Partial<Embedding>, mode: Config['mode']): Partial<Embedding> {
  const { origins, callbacks, ...rest } = given;
  return {
    ...rest,
    ...(origins && { origins: canonicalOrigins(origins, mode) }),
    ...(callbacks && { callbacks: canonicalCallbacks(callbacks) }),
  };
}

/** Every call of the merchant gets 403 from now on. Throws `not_found`. */
export class SuspendMerchant extends Command<CredentialChanged> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(SuspendMerchant)
export class SuspendMerchantHandler implements ICommandHandler<SuspendMerchant> {
  constructor(private readonly access: AccessCommands) {}

  execute({ merchantId }: SuspendMerchant): Promise<CredentialChanged> {
    return this.access.change(merchant, merchantId, (state, at) => suspendMerchant({ at }, state));
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
  constructor(private readonly access: AccessCommands) {}

  execute({ merchantId }: ReinstateMerchant): Promise<CredentialChanged> {
    return this.access.change(merchant, merchantId, (state, at) => reinstateMerchant({ at }, state));
  }
}
