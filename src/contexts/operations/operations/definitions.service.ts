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

/** The metadata key of a `@CommandHandler`, with its command class. @nestjs/cqrs does not export it. */
const COMMAND_OF_HANDLER = '__commandHandler__';

type CommandClass = new (subjectId: string, ...given: readonly unknown[]) => AnyCommand;

interface Definition extends OperationFacts {
  readonly command: CommandClass;
  readonly handler: OperationHandler<AnyCommand>;
}

/** The operations of this process: commands with `@Operation` whose handlers are providers. */
@Injectable()
export class Definitions implements OnModuleInit {
  private readonly byName = new Map<string, Definition>();
  private readonly byCommand = new Map<object, Definition>();

  constructor(private readonly discovery: DiscoveryService) {}

  /** Fails the boot if a name has two handlers or an operation has none. */
  onModuleInit(): void {
    this.discover();
    const missing = [...OPERATIONS.values()].find(({ name }) => !this.byName.has(name));
    if (missing !== undefined) throw new Error(`the operation ${missing.name} has no handler`);
  }

  discover(): void {
    for (const { instance, metatype } of this.discovery.getProviders()) {
      const command = (metatype && Reflect.getMetadata(COMMAND_OF_HANDLER, metatype)) as CommandClass;
      const facts = OPERATIONS.get(command);
      if (facts === undefined) continue;
      if (this.byName.has(facts.name)) throw new Error(`the operation ${facts.name} is declared twice`);
      const handler = instance as OperationHandler<AnyCommand>;
      const definition = { ...facts, command, handler };
      this.byName.set(facts.name, definition);
      this.byCommand.set(command, definition);
    }
  }

  /** Throws for a name without a handler. */
  find(name: string): Definition {
    const definition = this.byName.get(name);
    if (definition === undefined) throw new Error(`there is no operation ${name}`);
    return definition;
  }

  of({ constructor }: AnyCommand): Definition {
    const definition = this.byCommand.get(constructor);
    if (definition === undefined) throw new Error(`${constructor.name} is no operation`);
    return definition;
  }

  /**
   * Returns the time allowed for an execution. Undefined for the default, and for an operation of another version.
   */
  takesMs(name: string): number | undefined {
    return this.byName.get(name)?.takesMs;
  }

  streams(command: AnyCommand): readonly string[] {
    return this.of(command).streams(command.subjectId, command.parameters as never);
  }

  /** Returns the command of a recorded operation. */
  commandOf({ operation_id: id, name, subject, parameters, reason, requested_by }: Requested): AnyCommand {
    const { command } = this.find(name);
    return new command(subject.id, parameters as JsonObject, { id, reason, actor: requested_by.name });
  }

  /** Returns the scopes that a decision or a request needs. `own` is true for a request by the subject's owner. */
  async findScopes(command: AnyCommand, own = false): Promise<readonly string[]> {
    const { scope, handler } = this.of(command);
    const granted = (await handler.grants?.(command)) ?? [];
    return own ? granted : [scope, ...granted];
  }

  async isOwn(command: AnyCommand, requester: Pick<Requester, 'operatorId' | 'credentialId'>) {
    return (await this.of(command).handler.own?.(command, requester)) ?? false;
  }
}
