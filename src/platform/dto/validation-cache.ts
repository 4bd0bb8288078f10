import { getMetadataStorage } from 'class-validator';

/**
 * The validation rules of each class, cached. Importing this file installs the cache. Without it,
 * class-validator searches the rules of all classes for every body (ADR 111). The cache ignores options: no
 * rule has groups, and none is added after the boot.
 */
export const rulesOfClasses = getMetadataStorage();

const findRules = rulesOfClasses.getTargetValidationMetadatas.bind(rulesOfClasses);
const found = new WeakMap<object, ReturnType<typeof findRules>>();
rulesOfClasses.getTargetValidationMetadatas = (target, ...options) => {
  const known = found.get(target) ?? findRules(target, ...options);
  found.set(target, known);
  return known;
};
