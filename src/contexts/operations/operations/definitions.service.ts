import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import {
  OPERATIONS,
  type AnyCommand,
  type OperationFacts,
  type OperationHandler,
} from '../../../platform/operations/operation.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import type { Requester } from '../../../platform/operations/operations.js';
import type { Requested } from './operation.js';

/** The metadata key under which @nestjs/cqrs stores the command of a handler. It is not exported. */
const COMMAND_OF_HANDLER = '__commandHandler__';

type CommandClass = new (subjectId: string, ...given: readonly unknown[]) => AnyCommand;

interface Definition extends OperationFacts {
  readonly command: CommandClass;
  readonly handler: OperationHandler<AnyCommand>;
}

/** The operations of this process: commands with `@Operation` whose handlers are providers. */
@Injectable()
export class Definitions implements OnModuleInit {
  private readonly all = new Map<object, Definition>();

  constructor(private readonly discovery: DiscoveryService) {}

  /** Fails the boot if a name has two handlers or an operation has none. */
  onModuleInit(): void {
    this.discover();
    for (const { name } of OPERATIONS.values())
      if (this.named(name) === undefined) throw new Error(`the operation ${name} has no handler`);
  }

  discover(): void {
    for (const { instance, metatype } of this.discovery.getProviders()) {
      const command = (metatype && Reflect.getMetadata(COMMAND_OF_HANDLER, metatype)) as CommandClass;
      const facts = OPERATIONS.get(command);
      if (facts === undefined) continue;
      if (this.named(facts.name) !== undefined)
        throw new Error(`the operation ${facts.name} is declared twice`);
      this.all.set(command, { ...facts, command, handler: instance as OperationHandler<AnyCommand> });
    }
  }

  /** Returns undefined for an operation of another version of the service. */
  named(name: string): Definition | undefined {
    return [...this.all.values()].find((each) => each.name === name);
  }

  of({ constructor }: AnyCommand): Definition {
    const definition = this.all.get(constructor);
    if (definition === undefined) throw new Error(`${constructor.name} is not a registered operation`);
    return definition;
  }

  streams(command: AnyCommand): readonly string[] {
    return this.of(command).streams(command.subjectId, command.parameters as never);
  }

  /** Returns the command of a recorded operation. Throws for an operation of another version. */
  commandOf({ operation_id: id, name, subject, parameters, reason, requested_by }: Requested): AnyCommand {
    const definition = this.named(name);
    if (definition === undefined) throw new Error(`this version has no operation ${name}`);
    return new definition.command(subject.id, parameters as JsonObject, {
      id,
      reason,
      actor: requested_by.name,
    });
  }

  /** Returns the scopes that a request or decision needs. `own` means that the requester owns the subject. */
  async findScopes(command: AnyCommand, own = false): Promise<readonly string[]> {
    const { scope, handler } = this.of(command);
    const granted = (await handler.grants?.(command)) ?? [];
    return own ? granted : [scope, ...granted];
  }

  async isOwn(command: AnyCommand, requester: Pick<Requester, 'operatorId' | 'credentialId'>) {
    return (await this.of(command).handler.own?.(command, requester)) ?? false;
  }
}
