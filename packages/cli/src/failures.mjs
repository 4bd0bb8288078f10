// Failures as sentences and exit codes.
import { ApiError, ConnectionError } from '@disburse/sdk';
import { printable } from './json-text.mjs';
import { complain, Problem } from './terminal.mjs';
import { EXIT, Unreachable } from './usage.mjs';

/** Prints the failure on standard error and sets the exit code; null is none. With `json` it is one line of JSON. */
export function fail(error, { json = false } = {}) {
  if (error === null) return;
  if (json) process.stderr.write(`${JSON.stringify({ error: factsOf(error) })}\n`);
  else complain(inWords(error), process.stderr);
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error) {
  const problem = inWords(error);
  return problem instanceof Problem ? (problem.exitCode ?? EXIT.refused) : EXIT.refused;
}

/** A Problem for what a user can act on; anything else is a fault of this program and keeps its stack. */
export function inWords(error) {
  if (error instanceof ApiError) return new Problem(refusal(error));
  if (error instanceof ConnectionError) return new Unreachable(noResponse(error));
  return error;
}

function refusal({ status, detail, errors, requestId, message }) {
  // The client appends these hints to a refused signature.
  const hint = message.includes('string to sign') || message.includes('private key is not') ? message : null;
  const fields = Object.entries(errors).flatMap(([field, all]) =>
    all.map((each) => `  ${printable(withField(field, each))}`),
  );
  return [
    hint ?? headline(printable(detail), status, fields),
    ...fields,
    ...(requestId === null ? [] : [`Request id: ${requestId}`]),
  ].join('\n');
}

/** The fields say what is wrong where there are any. */
function headline(detail, status, fields) {
  if (fields.length > 0) return `The service refused this (${status}):`;
  return `${sentenceOf(detail).slice(0, -1)} (${status}).`;
}

/** Some messages name the field themselves. */
export function withField(field, message) {
  return message.includes(field) ? message : `${field} ${message}`;
}

function noResponse({ message, cause }) {
  const reason = cause?.cause?.code ?? cause?.cause?.message ?? cause?.code ?? cause?.message ?? null;
  return `${message}${reason === null ? '' : ` (${reason})`}. Is the service running there?`;
}

function factsOf(error) {
  if (!(error instanceof ApiError)) return { message: inWords(error).message };
  const { status, detail, errors, requestId } = error;
  return { message: error.message, status, detail, errors, request_id: requestId };
}

/** Converts a program's message into a sentence: `error: unknown option '--x'` is `Unknown option '--x'.` */
export function sentenceOf(message) {
  const lines = message
    .replace(/^error: /, '')
    .split('\n')
    .filter(Boolean);
  return lines.map((line) => sentence(line.replace(/^\((.*)\)$/, '$1').trim())).join(' ');
}

function sentence(text) {
  const upper = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(upper) ? upper : `${upper}.`;
}
