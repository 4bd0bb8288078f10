import type * as swagger from '@nestjs/swagger';

export type Swagger = typeof swagger;

const notes: ((swagger: Swagger) => void)[] = [];

/**
 * What the OpenAPI document says of a class or a method, in decorators of @nestjs/swagger. Only the build applies them:
 * loading that package would cost every start a fifth of a second.
 */
export function note(say: (swagger: Swagger) => void): void {
  notes.push(say);
}

/** Applies what was noted since the last call. */
export function applyNotes(swagger: Swagger): void {
  for (const say of notes.splice(0)) say(swagger);
}
