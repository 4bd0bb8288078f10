import { Command } from '@nestjs/cqrs';
import type { Requester } from './operations.js';

interface RunningOperation {
  readonly id: string;
  readonly reason: string;
  /** The name of the operator who requested the operation, or `shell`. */
  readonly actor: string;
}

export type EmptyParameters = Readonly<Record<string, never>>;

/** An operator's write (admin-api.md 4). Recorded parameters are JSON without personal data or secrets. */
export abstract class OperatorCommand<
  Parameters extends object = EmptyParameters,
  Result extends object | void = void,
> extends Command<Result> {
  readonly parameters: Parameters;
  /** The recorded operation, or null before it is recorded. */
  readonly operation: RunningOperation | null;

  constructor(
    readonly subjectId: string,
    ...[parameters, operation]: EmptyParameters extends Parameters
      ? [parameters?: Parameters, operation?: RunningOperation]
      : [parameters: Parameters, operation?: RunningOperation]
  ) {
    super();
    this.parameters = JSON.parse(JSON.stringify(parameters ?? {})) as Parameters;
    this.operation = operation ?? null;
  }
}

export type AnyCommand = OperatorCommand<object, object | void>;

export interface OperationFacts<Parameters extends object = never> {
  /** The name `<resources>.<verb>`, for example `merchants.suspend`. */
  readonly name: string;
  /** The scope that a request and a decision need; see OperationHandler.own. */
  readonly scope: string;
  /** The kind of the subject, for example `merchant`. */
  readonly subject: string;
  /** Returns the streams whose revisions form the subject's revision; none if it has no revision. */
  readonly streams: (subjectId: string, parameters: Parameters) => readonly string[];
  /** The second person approves before or confirms after the execution. `depends`: the handler decides. */
  readonly secondPerson?: 'before' | 'after' | 'depends';
  /** The time after which another process retries the execution; 10 seconds when absent. */
  readonly takesMs?: number;
}

type OperationType = new (...given: never[]) => AnyCommand;

/** The operations of the loaded modules, by their command class. */
export const OPERATIONS = new Map<OperationType, OperationFacts>();

/** Declares a command as an operation. Its handler must be a provider, also in CLI programs. */
export function Operation<Parameters extends object = object>(facts: OperationFacts<Parameters>) {
  return (type: new (...given: never[]) => OperatorCommand<Parameters, object | void>): void =>
    void OPERATIONS.set(type, facts);
}

/** The `@CommandHandler` of an operation. */
export interface OperationHandler<Of extends AnyCommand> {
  /**
   * Writes the change. A retry after a crash runs only if the subject's streams are unwritten; without
   * streams, the change may be written already. The result is for the response and is not recorded.
   */
  execute(command: Of): Promise<Of extends Command<infer Result> ? Result : never>;
  /** Decides whether these parameters need a second person; required for `depends`. */
  secondPerson?(command: Of): Promise<'before' | null>;
  /** Returns the scopes that the operation adds to a person; requester and approver need them. */
  grants?(command: Of): Promise<readonly string[]>;
  /**
   * Returns true if the requester owns the subject, and therefore needs no scope and no reach for it. Throws
   * `forbidden` for another person's subject, and for terms that exceed the requester's credential.
   */
  own?(command: Of, requester: Pick<Requester, 'operatorId' | 'credentialId'>): Promise<boolean>;
  /** Throws DomainError for an inadmissible request, which is not recorded. */
  check?(command: Of): Promise<void>;
  /**
   * Prepares a pending operation, for example with a pending credential; undoes this if the operation ends.
   * Returns the result of an executed operation for a repeated request. May run several times per status.
   */
  follow?(command: Of, status: OperationProgress): Promise<object>;
}

export interface OperationProgress {
  /** The status `ended` means rejected, withdrawn, lapsed or failed. */
  readonly status: 'pending' | 'executed' | 'ended';
  /** The recipient of the result. */
  readonly by: 'requester' | 'approver';
}
