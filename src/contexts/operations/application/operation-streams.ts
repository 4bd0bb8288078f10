import { Injectable } from '@nestjs/common';
import { CommandLoop, withinOperation } from '../../../platform/event-store/command-loop.js';
import type { OperationEvent } from '../domain/operation-events.js';
import { operation, type OperationState } from '../domain/operation.js';

/** The streams of operations. */
@Injectable()
export class OperationStreams {
  constructor(private readonly loop: CommandLoop) {}

  load(id: string) {
    return this.loop.load(operation, id);
  }

  /** Writes what is decided; the events of an operation name it as their cause, too. */
  record(id: string, decide: (state: OperationState) => readonly OperationEvent[]) {
    return withinOperation({ id, expected: new Map(), written: [] }, () =>
      this.loop.execute(operation, id, decide, { metadata: { actor: 'operations' }, follows: true }),
    );
  }
}
