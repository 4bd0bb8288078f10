import { CommandHandler } from '@nestjs/cqrs';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { credentials, restrictKey, setPage } from '../domain/credentials.js';
import type { PayPageSettings } from '../domain/pay-page.js';
import { AccessCommands } from './access-commands.js';
import { canonicalCidrs } from './allow-lists.js';
import { CREDENTIAL, requireOwner, type CredentialOwner } from './credential-commands.js';

const KEY = { ...CREDENTIAL, subject: 'exchange_key' } as const;

/**
 * Calls with the key from outside these addresses and CIDR ranges get 403; none: anywhere. Throws `not_found`,
 * `invalid_transition` for a revoked key, or `validation_failed`.
 */
@Operation({ ...KEY, name: 'credentials.restrict' })
export class RestrictKey extends OperatorCommand<
  CredentialOwner & { readonly addresses: readonly string[] }
> {}

@CommandHandler(RestrictKey)
class RestrictKeyHandler implements OperationHandler<RestrictKey> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId: key_id, parameters }: RestrictKey): Promise<void> {
    const addresses = canonicalCidrs(parameters.addresses);
    await this.access.change(credentials, requireOwner(parameters), (state, at) =>
      restrictKey({ key_id, addresses, at }, state),
    );
  }
}

/** Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed`. */
@Operation({ ...KEY, name: 'credentials.set_page' })
export class SetKeyPage extends OperatorCommand<CredentialOwner & { readonly page: PayPageSettings }> {}

@CommandHandler(SetKeyPage)
class SetKeyPageHandler implements OperationHandler<SetKeyPage> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId: key_id, parameters }: SetKeyPage): Promise<void> {
    await this.access.change(credentials, requireOwner(parameters), (state, at) =>
      setPage({ key_id, page: parameters.page, at }, state),
    );
  }
}

export const KEY_HANDLERS = [RestrictKeyHandler, SetKeyPageHandler];
