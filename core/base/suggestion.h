// What a mistyped name may have been meant for.
#pragma once

#include <string>
#include <vector>

namespace csrkit {

/// The name nearest to `word`: one that begins with it, or one within two slips of the keyboard (a
/// letter too many, missing, wrong, or two exchanged), one slip for words of up to five letters.
/// "" where there is none.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

/// "; did you mean 'rcm'?" for "rmc", "" where no name is near: the end of a refusal.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

/// The same for names as refusals list them, "random, degree, rcm"; what follows a name in brackets
/// is no part of it.
std::string did_you_mean(const std::string& word, const std::string& listed);

}  // namespace csrkit
