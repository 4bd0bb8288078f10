// Values of `--set <name>=<value>`.
import { InvalidArgumentError } from 'commander';
import { isJson } from '../json-text.mjs';
import { Usage } from '../usage.mjs';

export function pair(text, former = []) {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be <name>=<value>.');
  return [...former, [text.slice(0, at), text.slice(at + 1)]];
}

/** Collects `--set` pairs by the names that the type accepts. `custom_metadata.<key>` is a member of an object. */
export function setsOf(type, pairs, takes) {
  const set = {};
  for (const [path, value] of pairs) {
    const [name, ...members] = path.split('.');
    if (!Object.hasOwn(takes, name)) {
      throw new Usage(`${type} does not take --set ${name}. It takes ${Object.keys(takes).join(', ')}.`);
    }
    if (members.length > 0 && name !== 'custom_metadata') throw new Usage(`${name} has no members.`);
    if (members.length > 0) set[name] = { ...set[name], [members.join('.')]: value };
    else set[name] = name === 'custom_metadata' ? objectIn(value) : value;
  }
  return set;
}

function objectIn(text) {
  const value = isJson(text) ? JSON.parse(text) : null;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Usage('custom_metadata must be a JSON object.');
}
