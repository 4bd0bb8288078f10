import { getMetadataStorage } from 'class-validator';

/**
 * The rules of classes, each found once. class-validator itself searches all classes for inherited rules in each validation,
 * the largest allocation of a report (ADR 111). It offers no setting for this, so the import of this file replaces its search.
 * The cache ignores options: no rule has groups or is added after the boot.
 */
export const rulesOfClasses = getMetadataStorage();

const findRules = rulesOfClasses.getTargetValidationMetadatas.bind(rulesOfClasses);
const found = new WeakMap<object, ReturnType<typeof findRules>>();
rulesOfClasses.getTargetValidationMetadatas = (target, ...options) => {
  const known = found.get(target) ?? findRules(target, ...options);
  found.set(target, known);
  return known;
};
