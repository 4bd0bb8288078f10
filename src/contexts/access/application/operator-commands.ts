import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { tidy } from '../../../kernel/typed-text.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import {
  addPasskey,
  createOperator,
  operatorPerson,
  removePasskey,
  updateOperator,
  type OperatorChange,
  type Passkey,
} from '../domain/operator.js';
import { AccessCommands, type CredentialChanged } from './access-commands.js';

const EMAIL_TAKEN = 'is used by another operator';

export function emailInUse(): DomainError {
  return DomainError.invalid({ email: [EMAIL_TAKEN] }).asTransient();
}

/** A new person. Throws `validation_failed` on `name`, `email` (also one that another person has) or `role`. */
export class CreateOperator extends Command<CredentialChanged> {
  constructor(
    readonly operatorId: string,
    readonly person: { readonly name: string; readonly email: string; readonly role: string },
  ) {
    super();
  }
}

@CommandHandler(CreateOperator)
export class CreateOperatorHandler implements ICommandHandler<CreateOperator> {
  constructor(
    private readonly access: AccessCommands,
    private readonly keyedHash: KeyedHash,
  ) {}

  async execute({ operatorId, person }: CreateOperator): Promise<CredentialChanged> {
    const email = tidy(person.email).toLowerCase();
    const claim: Claim = {
      category: 'operator_email',
      key: this.keyedHash.of('operator email', email),
      field: 'email',
      message: EMAIL_TAKEN,
    };
    try {
      return await this.access.change(
        operatorPerson,
        operatorId,
        (state, at) => createOperator({ operatorId, ...person, at }, state),
        [claim],
      );
    } catch (error) {
      if (error instanceof ClaimHeld) throw emailInUse();
      throw error;
    }
  }
}

/** Every key and session of a disabled person gets 401. Throws `not_found`, or `validation_failed` on `role`. */
export class UpdateOperator extends Command<CredentialChanged> {
  constructor(
    readonly operatorId: string,
    readonly change: OperatorChange,
  ) {
    super();
  }
}

@CommandHandler(UpdateOperator)
export class UpdateOperatorHandler implements ICommandHandler<UpdateOperator> {
  constructor(private readonly access: AccessCommands) {}

  execute({ operatorId, change }: UpdateOperator): Promise<CredentialChanged> {
    return this.access.change(operatorPerson, operatorId, (state, at) =>
      updateOperator({ change, at }, state),
    );
  }
}

/** Throws `not_found`, or `invalid_transition` for a disabled person. */
export class AddPasskey extends Command<CredentialChanged> {
  constructor(
    readonly operatorId: string,
    readonly passkey: Passkey,
  ) {
    super();
  }
}

@CommandHandler(AddPasskey)
export class AddPasskeyHandler implements ICommandHandler<AddPasskey> {
  constructor(private readonly access: AccessCommands) {}

  execute({ operatorId, passkey }: AddPasskey): Promise<CredentialChanged> {
    return this.access.change(operatorPerson, operatorId, (state, at) => addPasskey({ passkey, at }, state));
  }
}

/** Throws `not_found`. */
export class RemovePasskey extends Command<CredentialChanged> {
  constructor(
    readonly operatorId: string,
    readonly credentialId: string,
  ) {
    super();
  }
}

@CommandHandler(RemovePasskey)
export class RemovePasskeyHandler implements ICommandHandler<RemovePasskey> {
  constructor(private readonly access: AccessCommands) {}

  execute({ operatorId, credentialId }: RemovePasskey): Promise<CredentialChanged> {
    return this.access.change(operatorPerson, operatorId, (state, at) =>
      removePasskey({ credentialId, at }, state),
    );
  }
}
