import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { CONTEXTS, type Context } from '../../../platform/context.js';
import type {
  Get,
  OperationDefinition,
  RunningOperation,
} from '../../../platform/operations/operation-definition.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import type { Requester } from '../../../platform/operations/operations.js';
import type { Requested } from '../domain/operation-events.js';

/** The operations that the contexts declare. */
@Injectable()
export class Definitions {
  private readonly byName = new Map<string, OperationDefinition>();
  /** For the functions of definitions: the provider of this process. */
  readonly get: Get = (token) => this.providers.get(token, { strict: false });

  constructor(
    @Inject(CONTEXTS) contexts: readonly Context[],
    private readonly providers: ModuleRef,
  ) {
    for (const definition of contexts.flatMap(({ operations = [] }) => operations)) {
      if (this.byName.has(definition.name))
        throw new Error(`the operation ${definition.name} is declared twice`);
      this.byName.set(definition.name, definition);
    }
  }

  /** Throws for a name that no context declares. */
  find(name: string): OperationDefinition {
    const definition = this.byName.get(name);
    if (definition === undefined) throw new Error(`there is no operation ${name}`);
    return definition;
  }

  /** How long its execution may take; undefined: as others, or no context declares it any longer. */
  takesMs(name: string): number | undefined {
    return this.byName.get(name)?.takesMs;
  }

  /** The scopes that the operation needs now, of the person who decides on it, or who requests it where it is not `own`. */
  async scopesOf(
    { scope, gives }: OperationDefinition,
    parameters: Requested['parameters'],
    subjectId: string,
    own = false,
  ) {
    const given = (await gives?.(parameters as JsonObject, this.get, subjectId)) ?? [];
    return own ? given : [scope, ...given];
  }

  /** The value of {@link OperationDefinition.own}. */
  async isOwn(
    { own }: OperationDefinition,
    requester: Pick<Requester, 'operatorId' | 'credentialId'>,
    parameters: Requested['parameters'],
    subjectId: string,
  ): Promise<boolean> {
    return (await own?.(requester, parameters as JsonObject, this.get, subjectId)) ?? false;
  }
}

export function runningOperation({
  operation_id,
  subject,
  requested_by,
  ...facts
}: Requested): RunningOperation {
  return {
    id: operation_id,
    subjectId: subject.id,
    parameters: facts.parameters as JsonObject,
    reason: facts.reason,
    operatorId: requested_by.operator_id,
    actor: requested_by.name,
    requestedAt: facts.requested_at,
  };
}
