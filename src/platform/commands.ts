import type { Type } from '@nestjs/common';
import { CommandHandler as NestCommandHandler, type ICommand } from '@nestjs/cqrs';

export interface DeclaredHandler {
  /** Name of its command. */
  readonly command: string;
  readonly handler: Type;
  /** Only the sandbox has it. */
  readonly sandbox: boolean;
}

const declared: DeclaredHandler[] = [];

/** Those of the files that were loaded. */
export const declaredHandlers: readonly DeclaredHandler[] = declared;

/** As Nest's own; and the boot misses the handler when no module provides it. */
export function CommandHandler(command: Type<ICommand>, { sandbox = false } = {}): ClassDecorator {
  return (target) => {
    declared.push({ command: command.name, handler: target as unknown as Type, sandbox });
    NestCommandHandler(command)(target);
  };
}
