// How the visitor wants words to be pronounced: lines of `word = how`.

/** Returns the text with each of these words as it is to be read; longer ones come first. @param {string} text @param {string} lines */
export function pronounced(text, lines) {
  const said = new Map(lines.split("\n").flatMap((line) => {
    const [word, how] = line.split("=", 2).map((part) => part.trim());
    return word && how ? [/** @type {[string, string]} */ ([word.toLowerCase(), how])] : [];
  }));
  if (!said.size) return text;
  const words = [...said.keys()].sort((a, b) => b.length - a.length).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu"), (word) => said.get(word.toLowerCase()) ?? word);
}
