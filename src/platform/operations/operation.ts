import { Command } from '@nestjs/cqrs';
import type { Requester } from './operations.js';

/** An operation that is executed or followed. */
interface RunningOperation {
  readonly id: string;
  readonly reason: string;
  /** The name of the operator who requested it, or `shell`. */
  readonly actor: string;
}

export type EmptyParameters = Readonly<Record<string, never>>;

/**
 * A write of an operator (admin-api.md 4): a command that {@link Operations} records before it executes it. Its parameters
 * are recorded as JSON: no personal data, no secrets.
 */
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
    this.parameters = parameters ?? ({} as Parameters);
    this.operation = operation ?? null;
  }
}

/** Any operation's command. */
export type AnyCommand = OperatorCommand<object, object | void>;

export interface OperationFacts<Parameters extends object = never> {
  /** `<resources>.<verb>`, as `merchants.suspend`. */
  readonly name: string;
  /** Requesting, approving, rejecting and confirming it need this scope; see {@link OperationHandler.own}. */
  readonly scope: string;
  /** The kind of its subject, as `merchant`. */
  readonly subject: string;
  /** Streams whose events are the revision of the subject: none where it has no revision. */
  readonly streams: (subjectId: string, parameters: Parameters) => readonly string[];
  /**
   * `before`: another person approves it, then it is executed. `after`: it is executed at once, and another person confirms
   * it. `depends`: `secondPerson` of the handler decides. Absent: one person is enough.
   */
  readonly secondPerson?: 'before' | 'after' | 'depends';
  /** The time after which another process executes the operation again; 10 seconds when absent. */
  readonly takesMs?: number;
}

type OperationType = new (...given: never[]) => AnyCommand;

const FACTS = 'disburse:operation';

/** Reads what the class of a command declares with {@link Operation}; undefined for any other class. */
export function operationFacts(type: object): OperationFacts | undefined {
  return Reflect.getMetadata(FACTS, type) as OperationFacts | undefined;
}

/** The operations of the loaded modules, by their command class. */
export const OPERATIONS = new Map<OperationType, OperationFacts>();

/** Declares a command as an operation. Its {@link OperationHandler} is a provider, also in programs. */
export function Operation<Parameters extends object = object>(facts: OperationFacts<Parameters>) {
  return (type: new (...given: never[]) => OperatorCommand<Parameters, object | void>): void => {
    OPERATIONS.set(type, facts);
    Reflect.defineMetadata(FACTS, facts, type);
  };
}

/** The `@CommandHandler` of an operation. Only `execute` is required. */
export interface OperationHandler<Of extends AnyCommand> {
  /**
   * Writes the change: its events name the operation as their cause. It may be called again after a crash: with nothing
   * written to the streams of its subject, or, where it has no streams, with the change written or not. Its result is for
   * the response and is not recorded.
   */
  execute(command: Of): Promise<Of extends Command<infer Result> ? Result : never>;
  /** Returns `before` where these parameters need a second person; required where that `depends`. */
  secondPerson?(command: Of): Promise<'before' | null>;
  /** The scopes that it gives to somebody: the persons who request and approve it need them. */
  grants?(command: Of): Promise<readonly string[]>;
  /**
   * Returns true where the requester owns the subject: then neither the scope is needed to request it, nor do the merchants
   * of the requester matter. Throws `forbidden` for another person's, and for what would exceed the requester's credential.
   */
  own?(command: Of, requester: Pick<Requester, 'operatorId' | 'credentialId'>): Promise<boolean>;
  /** Throws DomainError for what may not be requested; nothing was recorded then. */
  check?(command: Of): Promise<void>;
  /**
   * Writes what exists while a second person is awaited, without effect (a pending credential), and undoes it where the
   * operation ends without being executed. For a repeat of what was executed it returns the result again. It may be called
   * again at each status.
   */
  follow?(command: Of, status: OperationProgress): Promise<object>;
}

/** The progress of an operation. */
export interface OperationProgress {
  /** `ended`: rejected, withdrawn, lapsed or failed. */
  readonly status: 'pending' | 'executed' | 'ended';
  /** Whom the result is for. */
  readonly by: 'requester' | 'approver';
}
