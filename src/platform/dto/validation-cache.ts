import { getMetadataStorage } from 'class-validator';

/**
 * The rules of each class, found once. Importing this file replaces class-validator's search of all classes
 * in each validation, the largest allocation of a report (ADR 111). The cache ignores options: no rule has
 * groups or is added after the boot.
 */
export const rulesOfClasses = getMetadataStorage();

const findRules = rulesOfClasses.getTargetValidationMetadatas.bind(rulesOfClasses);
const found = new WeakMap<object, ReturnType<typeof findRules>>();
rulesOfClasses.getTargetValidationMetadatas = (target, ...options) => {
  const known = found.get(target) ?? findRules(target, ...options);
  found.set(target, known);
  return known;
};
